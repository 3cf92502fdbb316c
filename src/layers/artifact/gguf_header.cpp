// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/gguf_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "layers/artifact/file_kind.h"
#include "layers/artifact/gguf_metadata.h"
#include "layers/artifact/gguf_types.h"
#include "layers/artifact/header_cursor.h"

namespace hearth {
namespace {

using gguf::HeaderCursor;
using gguf::Metadata;
using gguf::Packing;

constexpr std::uint64_t kMaxTensors = 131072;
constexpr std::uint64_t kSmallestTensor = 24;  // empty name, no dimension
constexpr std::size_t kMaxTensorName = 255;
constexpr std::uint32_t kMaxDimensions = 4;
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kMaxAlignment = std::uint64_t{1} << 20;
// Gaps of less than a page cost as much to leave out as to read.
constexpr std::uint64_t kJoinedGap = 4096;

struct Extent {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
};

bool holds_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

// One header while it is read.
class Reader {
 public:
  Reader(HeaderCursor& cursor, GgufHeader& header) : cursor_{cursor}, header_{header} {}

  void read() {
    read_magic();
    const auto tensors = cursor_.number<std::uint64_t>("the tensor count");
    const auto pairs = cursor_.number<std::uint64_t>("the metadata count");
    if (cursor_.room_for(tensors, kSmallestTensor, "tensors") && tensors > kMaxTensors) {
      cursor_.fail(fmt::format("{} tensors, more than {}", tensors, kMaxTensors));
    }
    metadata_.read(cursor_, pairs);
    read_alignment();
    for (std::uint64_t i = 0; i < tensors && cursor_.ok(); ++i) read_tensor();
    if (!cursor_.ok() || !check_names()) return;
    place_tensors();
    tell_facts();
  }

 private:
  void read_magic();
  void read_alignment();
  void read_tensor();
  Extent read_shape(GgufHeader::Tensor& tensor);
  bool multiply(std::uint64_t& product, std::uint64_t factor, std::string_view name);
  bool check_names();
  void place_tensors();
  void tell_facts();
  void tell_of_template();
  std::string commonest_packing() const;

  HeaderCursor& cursor_;
  GgufHeader& header_;
  Metadata metadata_;
  std::uint64_t alignment_ = kDefaultAlignment;
  std::uint64_t parameters_ = 0;
  std::map<std::string_view, std::uint64_t> bytes_by_packing_;
};

void Reader::read_magic() {
  (void)cursor_.number<std::uint32_t>("the first four bytes");  // refusal_of() saw them
  header_.version = cursor_.number<std::uint32_t>("the version");
  if (!cursor_.ok() || header_.version == 2 || header_.version == 3) return;
  cursor_.fail(fmt::format("GGUF version {}; only 2 and 3 are known", header_.version));
}

void Reader::read_alignment() {
  alignment_ = metadata_.integer("general.alignment").value_or(kDefaultAlignment);
  const bool power_of_two = alignment_ != 0 && (alignment_ & (alignment_ - 1)) == 0;
  if (!power_of_two || alignment_ > kMaxAlignment) {
    cursor_.fail(
        fmt::format("general.alignment is {}, which is no sensible power of two", alignment_));
  }
}

bool Reader::multiply(std::uint64_t& product, std::uint64_t factor, std::string_view name) {
  std::uint64_t result = 0;
  if (factor == 0) {
    cursor_.fail(fmt::format("tensor {} has a dimension of zero", name));
  } else if (__builtin_mul_overflow(product, factor, &result) || result > INT64_MAX) {
    cursor_.fail(fmt::format("tensor {} has more elements than can be counted", name));
  }
  product = result;
  return cursor_.ok();
}

Extent Reader::read_shape(GgufHeader::Tensor& tensor) {
  const std::string& name = tensor.name;
  const auto dimensions = cursor_.number<std::uint32_t>("a tensor's dimensions");
  if (dimensions > kMaxDimensions) {
    cursor_.fail(fmt::format("tensor {} has {} dimensions, at most {} are possible", name,
                             dimensions, kMaxDimensions));
  }
  Extent shape{1, 0};
  std::uint64_t row = 1;
  for (std::uint32_t i = 0; i < dimensions && cursor_.ok(); ++i) {
    const auto extent = cursor_.number<std::uint64_t>("a tensor's dimensions");
    if (i == 0) row = extent;
    if (cursor_.ok() && multiply(shape.elements, extent, name)) {
      tensor.shape[tensor.dimensions++] = extent;
    }
  }
  const auto type = cursor_.number<std::uint32_t>("a tensor's type");
  if (!cursor_.ok()) return shape;
  const std::optional<Packing> packing = gguf::packing_of(type);
  if (!packing) {
    cursor_.fail(fmt::format("tensor {} has the unknown type {}", name, type));
  } else if (row % packing->block != 0) {
    cursor_.fail(fmt::format("tensor {} has rows of {} values, but {} packs them by {}", name, row,
                             packing->name, packing->block));
  } else {
    shape.bytes = shape.elements / packing->block;
    multiply(shape.bytes, packing->bytes, name);
    tensor.type = packing->name;
    bytes_by_packing_[packing->name] += shape.bytes;
  }
  return shape;
}

void Reader::read_tensor() {
  GgufHeader::Tensor tensor;
  tensor.name = cursor_.text("a tensor's name", kMaxTensorName + 1);
  if (tensor.name.size() > kMaxTensorName) cursor_.fail("a tensor's name is longer than 255 bytes");
  const Extent shape = read_shape(tensor);
  tensor.range.offset = cursor_.number<std::uint64_t>("a tensor's offset");
  tensor.range.size = Bytes{shape.bytes};
  if (!cursor_.ok()) return;
  if (tensor.range.offset % alignment_ != 0) {
    return cursor_.fail(fmt::format("tensor {} begins at {}, which is not a multiple of {}",
                                    tensor.name, tensor.range.offset, alignment_));
  }
  parameters_ += shape.elements;
  header_.tensors.push_back(std::move(tensor));
}

bool Reader::check_names() {
  std::unordered_set<std::string_view> names;
  for (const GgufHeader::Tensor& tensor : header_.tensors) {
    if (names.insert(tensor.name).second) continue;
    cursor_.fail(fmt::format("tensor {} stands there twice", tensor.name));
    return false;
  }
  return true;
}

void Reader::place_tensors() {
  const std::uint64_t header_end = cursor_.position();
  header_.data_begin = (header_end + alignment_ - 1) / alignment_ * alignment_;
  header_.data_end = header_.tensors.empty() ? header_end : header_.data_begin;
  std::sort(header_.tensors.begin(), header_.tensors.end(),
            [](const auto& a, const auto& b) { return a.range.offset < b.range.offset; });
  const std::uint64_t file_size = header_.file.size.count();
  for (GgufHeader::Tensor& tensor : header_.tensors) {
    std::uint64_t end = 0;
    if (__builtin_add_overflow(tensor.range.offset, header_.data_begin, &tensor.range.offset) ||
        __builtin_add_overflow(tensor.range.offset, tensor.range.size.count(), &end)) {
      return cursor_.fail(fmt::format("tensor {} lies beyond any file's end", tensor.name));
    }
    if (end > file_size) {
      return cursor_.fail(fmt::format("tensor {} ends at byte {} but the file has {}", tensor.name,
                                      end, file_size));
    }
    if (tensor.range.offset < header_.data_end) {
      return cursor_.fail(fmt::format("tensor {} overlaps the one before it", tensor.name));
    }
    header_.data_end = end;
  }
}

std::string Reader::commonest_packing() const {
  const auto most =
      std::max_element(bytes_by_packing_.begin(), bytes_by_packing_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes_by_packing_.end() ? std::string{} : std::string{most->first};
}

void Reader::tell_facts() {
  ModelFacts& facts = header_.facts;
  header_.type = metadata_.text("general.type");
  facts.architecture = metadata_.text("general.architecture");
  facts.name = metadata_.text("general.name");
  facts.license = metadata_.text("general.license");
  facts.parameters = parameters_;
  const std::string& prefix = facts.architecture;
  facts.context_length = metadata_.integer(prefix + ".context_length").value_or(0);
  facts.embedding_length = metadata_.integer(prefix + ".embedding_length").value_or(0);
  facts.block_count = metadata_.integer(prefix + ".block_count").value_or(0);
  facts.pools = metadata_.integer(prefix + ".pooling_type").value_or(0) != 0;
  tell_of_template();
  facts.has_tokenizer = !metadata_.text("tokenizer.ggml.model").empty();
  facts.quantisation = commonest_packing();
  if (const auto type = metadata_.integer("general.file_type")) {
    if (const auto named = gguf::quantisation_named_by(*type)) facts.quantisation = *named;
  }
  header_.split.number = metadata_.integer("split.no").value_or(0);
  header_.split.count = metadata_.integer("split.count").value_or(0);
  header_.split.tensors = metadata_.integer("split.tensors.count").value_or(0);
  if (facts.architecture.empty() && header_.split.number == 0) {
    cursor_.fail("the file does not say which architecture the model has (general.architecture)");
  }
}

// Words that templates of this kind have in common. The engine, which tries the template out, may
// know better.
void Reader::tell_of_template() {
  ModelFacts& facts = header_.facts;
  const std::string text = metadata_.text("tokenizer.chat_template");
  facts.has_chat_template = metadata_.has("tokenizer.chat_template");
  facts.template_tools = holds_any(text, {"tools", "tool_calls"});
  facts.template_thinks =
      holds_any(text, {"enable_thinking", "reasoning_content", "<think>", "thinking"});
}

Result<FileInfo> info_of_model_file(const Files& files, const Fd& file) {
  Result<FileInfo> info = files.info(file);
  if (!info) return info;
  if (info->kind == FileKind::kDirectory) {
    return fail(ErrorCode::kCorrupt, "it is a directory, not a model file");
  }
  if (info->kind != FileKind::kRegular) {
    return fail(ErrorCode::kCorrupt, "it is no regular file (a pipe, socket or device)");
  }
  std::string beginning(kTellingBytes, '\0');
  const Result<std::size_t> got =
      files.read_at(file, 0, std::as_writable_bytes(std::span{beginning}));
  if (!got) return Failed{got.error()};
  beginning.resize(*got);
  if (std::optional<Error> refusal = refusal_of(beginning)) return Failed{std::move(*refusal)};
  return info;
}

}  // namespace

std::vector<Range> GgufHeader::load_ranges() const {
  std::vector<Range> ranges{Range{0, Bytes{std::min(data_begin, file.size.count())}}};
  for (const Tensor& tensor : tensors) {
    if (tensor.range.offset > ranges.back().end() + kJoinedGap) {
      ranges.push_back(tensor.range);
    } else {
      ranges.back().size = Bytes{tensor.range.end() - ranges.back().offset};
    }
  }
  return ranges;
}

Result<GgufHeader> read_gguf_header(const Files& files, const std::string& path) {
  Result<Fd> file = files.open_read(path);
  if (!file) return Failed{std::move(file).error()};
  Result<FileInfo> info = info_of_model_file(files, *file);
  if (!info) return Failed{std::move(info).error()};
  GgufHeader header;
  header.file = *info;
  HeaderCursor cursor{files, *file, info->size};
  Reader reader{cursor, header};
  reader.read();
  if (!cursor.ok()) return Failed{cursor.take_error()};
  const Digest digest = cursor.digest();
  header.digest = hex_of(digest);
  return header;
}

}  // namespace hearth
