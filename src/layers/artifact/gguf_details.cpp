// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/gguf_details.h"

#include <boost/json.hpp>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "layers/artifact/gguf_header.h"
#include "layers/artifact/gguf_metadata.h"
#include "layers/artifact/gguf_need.h"

namespace hearth {
namespace {

namespace json = boost::json;
using gguf::ArrayHead;
using gguf::HeaderCursor;
using gguf::PairHead;
using gguf::ValueType;

constexpr std::uint64_t kLongList = 64;
constexpr std::size_t kLongestText = std::size_t{1} << 20;
constexpr std::size_t kAllTexts = std::size_t{8} << 20;

// The values of one header, into JSON.
class Dump {
 public:
  explicit Dump(HeaderCursor& cursor) : cursor_{cursor} {}

  json::object read() {
    cursor_.skip(sizeof(std::uint32_t) * 2, "magic and version");  // read_gguf_header() saw them
    cursor_.skip(sizeof(std::uint64_t), "the tensor count");
    const auto pairs = cursor_.number<std::uint64_t>("the metadata count");
    json::object object;
    if (!plausible_pairs(cursor_, pairs)) return object;
    for (std::uint64_t i = 0; i < pairs && cursor_.ok(); ++i) {
      const std::optional<PairHead> head = read_pair_head(cursor_);
      if (!head) break;
      object[head->key] = value(head->type, head->what);
    }
    return object;
  }

 private:
  json::value value(ValueType type, std::string_view what) {
    if (type != ValueType::kArray) return scalar(type, what);
    const std::optional<ArrayHead> array = read_array_head(cursor_, what);
    if (!array) return nullptr;
    if (array->count > kLongList) {
      skip_values(cursor_, *array, what);
      return nullptr;
    }
    json::array list;
    for (std::uint64_t i = 0; i < array->count && cursor_.ok(); ++i) {
      list.push_back(scalar(array->type, what));
    }
    return list;
  }

  json::value scalar(ValueType type, std::string_view what) {
    switch (type) {
      case ValueType::kUint8:
        return cursor_.number<std::uint8_t>(what);
      case ValueType::kInt8:
        return cursor_.number<std::int8_t>(what);
      case ValueType::kUint16:
        return cursor_.number<std::uint16_t>(what);
      case ValueType::kInt16:
        return cursor_.number<std::int16_t>(what);
      case ValueType::kUint32:
        return cursor_.number<std::uint32_t>(what);
      case ValueType::kInt32:
        return cursor_.number<std::int32_t>(what);
      case ValueType::kUint64:
        return cursor_.number<std::uint64_t>(what);
      case ValueType::kInt64:
        return cursor_.number<std::int64_t>(what);
      case ValueType::kBool:
        return cursor_.number<std::uint8_t>(what) != 0;
      case ValueType::kFloat32:
        return finite(cursor_.number<float>(what));
      case ValueType::kFloat64:
        return finite(cursor_.number<double>(what));
      default:
        return text(what);
    }
  }

  static json::value finite(double number) {
    return std::isfinite(number) ? json::value{number} : json::value{};
  }

  json::value text(std::string_view what) {
    // One byte more than is kept, to see that there was more.
    std::string text = cursor_.raw_text(what, kLongestText + 1);
    if (text.size() > kLongestText || text_bytes_ + text.size() > kAllTexts) return nullptr;
    text_bytes_ += text.size();
    return json::value(std::move(text));
  }

  HeaderCursor& cursor_;
  std::size_t text_bytes_ = 0;
};

Result<json::object> read_metadata(const Files& files, const std::string& path) {
  Result<Fd> file = files.open_read(path);
  if (!file) return Failed{std::move(file).error()};
  Result<FileInfo> info = files.info(*file);
  if (!info) return Failed{std::move(info).error()};
  HeaderCursor cursor{files, *file, info->size};
  json::object metadata = Dump{cursor}.read();
  if (!cursor.ok()) return Failed{cursor.take_error()};
  return metadata;
}

std::string text_of(const json::object& metadata, std::string_view key) {
  const json::value* value = metadata.if_contains(key);
  const json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string{} : std::string{text->data(), text->size()};
}

void append_tensors(json::array& list, const GgufHeader& header) {
  for (const GgufHeader::Tensor& tensor : header.tensors) {
    json::array shape;
    for (std::uint32_t i = 0; i < tensor.dimensions; ++i) shape.push_back(tensor.shape[i]);
    list.push_back(
        json::object{{"name", tensor.name}, {"type", tensor.type}, {"shape", std::move(shape)}});
  }
}

// Bytes of tensors by what they are part of, in the order of their first tensors.
class LayerSums {
 public:
  void add(const GgufHeader& header) {
    for (const GgufHeader::Tensor& tensor : header.tensors) {
      const std::string layer{layer_of_tensor(tensor.name)};
      const auto [at, is_new] = places_.try_emplace(layer, sums_.size());
      if (is_new) sums_.push_back({layer, Bytes{}});
      sums_[at->second].second += tensor.range.size;
      total_ += tensor.range.size;
    }
  }
  json::array list() const {
    json::array list;
    for (const auto& [layer, bytes] : sums_) {
      list.push_back(json::object{{"layer", layer}, {"bytes", bytes.count()}});
    }
    return list;
  }
  Bytes total() const { return total_; }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::pair<std::string, Bytes>> sums_;
  Bytes total_;
};

json::object json_of_need(const GgufNeed& need, Bytes weights) {
  json::object object{{"weights_bytes", weights.count()},
                      {"kv_bytes", nullptr},
                      {"kv_context", nullptr},
                      {"total_bytes", nullptr},
                      {"note", need.note}};
  if (need.kv_context > 0) object["kv_context"] = need.kv_context;
  if (need.kv) {
    object["kv_bytes"] = need.kv->count();
    object["total_bytes"] = (weights + *need.kv).count();
  }
  return object;
}

}  // namespace

Result<GgufDetails> read_gguf_details(const Files& files, const std::vector<std::string>& paths) {
  json::array tensors;
  LayerSums layers;
  for (const std::string& path : paths) {
    const Result<GgufHeader> header = read_gguf_header(files, path);
    if (!header) return Failed{header.error()};
    append_tensors(tensors, *header);
    layers.add(*header);
  }
  if (paths.empty()) return fail(ErrorCode::kNotFound, "the model has no files");
  const Result<json::object> metadata = read_metadata(files, paths.front());
  if (!metadata) return Failed{metadata.error()};
  GgufDetails details;
  details.metadata = json::serialize(*metadata);
  details.chat_template = text_of(*metadata, "tokenizer.chat_template");
  details.license_text = text_of(*metadata, "general.license.text");
  if (details.license_text.empty()) {
    details.license_text = text_of(*metadata, "general.license");
  }
  details.tensors = json::serialize(tensors);
  details.layers = json::serialize(layers.list());
  details.need = json::serialize(json_of_need(need_of(*metadata), layers.total()));
  return details;
}

}  // namespace hearth
