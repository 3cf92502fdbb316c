// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/artifact_json.h"

#include <boost/json.hpp>

#include "base/json.h"

namespace hearth {
namespace {

namespace json = boost::json;

// Reads members of one object; the first that is absent or of another type makes ok() false.
class Members {
 public:
  explicit Members(const json::value& value)
      : object_{value.if_object()}, ok_{object_ != nullptr} {}

  std::uint64_t number(std::string_view key) {
    const json::value* value = member(key);
    boost::system::error_code error;
    const auto number = value ? value->to_number<std::uint64_t>(error) : 0;
    if (error) ok_ = false;
    return number;
  }
  std::int64_t signed_number(std::string_view key) {
    const json::value* value = member(key);
    boost::system::error_code error;
    const auto number = value ? value->to_number<std::int64_t>(error) : 0;
    if (error) ok_ = false;
    return number;
  }
  std::string text(std::string_view key) {
    const json::value* value = member(key);
    const json::string* text = value ? value->if_string() : nullptr;
    if (text == nullptr) ok_ = false;
    return text ? std::string{text->data(), text->size()} : std::string{};
  }
  bool flag(std::string_view key) { return number(key) != 0; }
  bool has(std::string_view key) const { return ok_ && object_->contains(key); }
  const json::array* array(std::string_view key) {
    const json::value* value = member(key);
    const json::array* array = value ? value->if_array() : nullptr;
    if (array == nullptr) ok_ = false;
    return array;
  }
  bool ok() const { return ok_; }

 private:
  const json::value* member(std::string_view key) {
    const json::value* found = ok_ ? object_->if_contains(key) : nullptr;
    if (found == nullptr) ok_ = false;
    return found;
  }

  const json::object* object_;
  bool ok_;
};

Failed damaged(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "the catalogue's " + std::string{what} + " cannot be read");
}

json::object object_of(const Artifact::Shard& shard) {
  json::array ranges;
  for (const Range& range : shard.ranges) {
    ranges.push_back(json::object{{"offset", range.offset}, {"size", range.size.count()}});
  }
  json::object object{{"path", shard.path},
                      {"device", std::uint64_t{shard.file.device}},
                      {"inode", std::uint64_t{shard.file.inode}},
                      {"size", shard.file.size.count()},
                      {"modified_ns", shard.file.modified_ns},
                      {"header", shard.header_digest},
                      {"ranges", std::move(ranges)}};
  if (!shard.sha256.empty()) object["sha256"] = shard.sha256;
  if (!shard.rotten_sha256.empty()) object["rotten_sha256"] = shard.rotten_sha256;
  return object;
}

bool read_shard(const json::value& value, Artifact::Shard& shard) {
  Members members{value};
  shard.path = members.text("path");
  shard.file.kind = FileKind::kRegular;
  shard.file.device = static_cast<dev_t>(members.number("device"));
  shard.file.inode = static_cast<ino_t>(members.number("inode"));
  shard.file.size = Bytes{members.number("size")};
  shard.file.modified_ns = members.signed_number("modified_ns");
  shard.header_digest = members.text("header");
  if (members.has("sha256")) shard.sha256 = members.text("sha256");
  if (members.has("rotten_sha256")) shard.rotten_sha256 = members.text("rotten_sha256");
  const json::array* ranges = members.array("ranges");
  if (!members.ok()) return false;
  for (const json::value& entry : *ranges) {
    Members range{entry};
    shard.ranges.push_back(Range{range.number("offset"), Bytes{range.number("size")}});
    if (!range.ok()) return false;
  }
  return true;
}

}  // namespace

std::string json_of(const std::vector<Artifact::Shard>& shards) {
  json::array array;
  for (const Artifact::Shard& shard : shards) array.push_back(object_of(shard));
  return json::serialize(array);
}

std::string json_of(const ModelFacts& facts) {
  return json::serialize(json::object{{"architecture", facts.architecture},
                                      {"name", facts.name},
                                      {"license", facts.license},
                                      {"quantisation", facts.quantisation},
                                      {"parameters", facts.parameters},
                                      {"context_length", facts.context_length},
                                      {"embedding_length", facts.embedding_length},
                                      {"block_count", facts.block_count},
                                      {"version", facts.version},
                                      {"chat_template", facts.has_chat_template ? 1 : 0},
                                      {"template_tools", facts.template_tools ? 1 : 0},
                                      {"template_thinks", facts.template_thinks ? 1 : 0},
                                      {"tokenizer", facts.has_tokenizer ? 1 : 0},
                                      {"pools", facts.pools ? 1 : 0}});
}

Result<std::vector<Artifact::Shard>> shards_of(std::string_view text) {
  Result<json::value> value = parse_json(text);
  const json::array* array = value ? value->if_array() : nullptr;
  if (array == nullptr) return damaged("list of files");
  std::vector<Artifact::Shard> shards(array->size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (!read_shard((*array)[i], shards[i])) return damaged("list of files");
  }
  return shards;
}

Result<ModelFacts> facts_of(std::string_view text) {
  Result<json::value> value = parse_json(text);
  if (!value) return damaged("facts about a model");
  Members members{*value};
  ModelFacts facts;
  facts.architecture = members.text("architecture");
  facts.name = members.text("name");
  facts.license = members.text("license");
  facts.quantisation = members.text("quantisation");
  facts.parameters = members.number("parameters");
  facts.context_length = members.number("context_length");
  facts.embedding_length = members.number("embedding_length");
  facts.block_count = members.number("block_count");
  facts.has_chat_template = members.flag("chat_template");
  facts.has_tokenizer = members.flag("tokenizer");
  facts.pools = members.flag("pools");
  facts.version = members.has("version") ? members.number("version") : 1;
  if (facts.version >= 2) {
    facts.template_tools = members.flag("template_tools");
    facts.template_thinks = members.flag("template_thinks");
  }
  if (!members.ok()) return damaged("facts about a model");
  return facts;
}

}  // namespace hearth
