// SPDX-License-Identifier: Apache-2.0
#include "engine/weight_set.h"

#include <fmt/format.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

namespace hearth::engine {
namespace {

constexpr int kLast = std::numeric_limits<int>::max();
constexpr std::size_t kTensorAlignment = 64;

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

// The whole pages of memory that nobody looks at any more; the rest of it stays usable.
void give_back(std::span<const std::byte> memory) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t first = (begin + page_size() - 1) & ~(page_size() - 1);
  const std::uintptr_t last = (begin + memory.size()) & ~(page_size() - 1);
  if (last > first) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

bool is_embedding(std::string_view name) { return name.find("token_embd") != name.npos; }

// When an evaluation first reads a weight: what belongs to no layer, the layers in order, the
// output. An encoder's layers come before a decoder's.
int first_touch(std::string_view name) {
  if (name.starts_with("output")) return kLast - 2;
  const std::size_t at = name.find("blk.");
  if (at == name.npos) return 0;
  int layer = 0;
  std::from_chars(name.data() + at + 4, name.data() + name.size(), layer);
  return 1 + std::clamp(layer, 0, 100'000) + (name.starts_with("dec.") ? 1'000'000 : 0);
}

int order_of(const Weight& weight) {
  // On a device the embedding is the output: rows are looked up where it is mapped.
  if (is_embedding(weight.name) && weight.home == Home::kDevice) return kLast - 2;
  // Of a mapped embedding single rows are read at first, and the whole only as the output, if ever.
  if (is_embedding(weight.name) && weight.home == Home::kMapped) {
    return weight.lazy ? kLast : kLast - 1;
  }
  return first_touch(weight.name);
}

}  // namespace

class WeightSet::Mapping {
 public:
  static Result<std::unique_ptr<Mapping>> of(int file) {
    struct stat info{};
    if (::fstat(file, &info) != 0) return fail_errno("stat", errno);
    const auto size = static_cast<std::size_t>(info.st_size);
    void* address = ::mmap(nullptr, std::max<std::size_t>(size, 1), PROT_READ, MAP_SHARED, file, 0);
    if (address == MAP_FAILED) return fail_errno("map the model's file", errno);
    return std::unique_ptr<Mapping>{new Mapping{static_cast<std::byte*>(address), size}};
  }
  ~Mapping() { ::munmap(begin_, std::max<std::size_t>(size_, 1)); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool holds(std::uint64_t offset, Bytes size) const {
    return offset <= size_ && size.count() <= size_ - offset;
  }
  std::byte* at(std::uint64_t offset) const { return begin_ + offset; }

 private:
  Mapping(std::byte* begin, std::size_t size) : begin_{begin}, size_{size} {}
  std::byte* begin_;
  std::size_t size_;
};

WeightSet::WeightSet(const Metadata& metadata, const Placement& placement, Sources sources)
    : metadata_{metadata}, placement_{placement}, sources_{std::move(sources)} {}

WeightSet::~WeightSet() {
  for (const Buffer& buffer : buffers_) ggml_backend_buffer_free(buffer.buffer);
}

Result<std::unique_ptr<WeightSet>> WeightSet::open(const Metadata& metadata,
                                                   const Placement& placement, Sources sources) {
  std::unique_ptr<WeightSet> set{new WeightSet{metadata, placement, std::move(sources)}};
  if (auto mapped = set->map_files(); !mapped) return Failed{std::move(mapped).error()};
  return set;
}

Result<> WeightSet::map_files() {
  for (const int file : sources_.files) {
    auto mapping = Mapping::of(file);
    if (!mapping) return Failed{std::move(mapping).error()};
    mappings_.push_back(std::move(*mapping));
  }
  for (const TensorSource& source : metadata_.tensors()) {
    const auto shard = static_cast<std::size_t>(source.shard);
    if (shard >= mappings_.size() || !mappings_[shard]->holds(source.offset, source.size)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("the file ends before the data of tensor {}", source.name));
    }
  }
  if (sources_.stored_file < 0) return {};
  auto mapping = Mapping::of(sources_.stored_file);
  if (!mapping) return Failed{std::move(mapping).error()};
  stored_ = std::move(*mapping);
  std::erase_if(sources_.stored, [this](const auto& entry) {
    const auto& [name, stored] = entry;
    const auto repacked = placement_.repacked.find(name);
    return repacked == placement_.repacked.end() || !stored_->holds(stored.offset, stored.size) ||
           stored.size.count() !=
               ggml_backend_buft_get_alloc_size(repacked->second, metadata_.shape(name));
  });
  return {};
}

bool WeightSet::is_on_device(const std::string& name) const {
  return std::any_of(weights_.begin(), weights_.end(), [&](const Weight& weight) {
    return weight.home == Home::kDevice && weight.name == name;
  });
}

bool WeightSet::is_tied() const { return metadata_.find("output.weight") == nullptr; }

bool WeightSet::take(ggml_tensor* tensor) {
  const TensorSource* source = metadata_.find(tensor->name);
  if (source == nullptr) return false;
  const ggml_tensor* shape = metadata_.shape(tensor->name);
  if (shape == nullptr || shape->type != tensor->type ||
      ggml_nelements(shape) != ggml_nelements(tensor) ||
      ggml_nbytes(tensor) != source->size.count()) {
    return false;
  }
  Weight weight;
  weight.name = source->name;
  weight.shard = source->shard;
  weight.offset = source->offset;
  weight.size = source->size;
  weight.tensor = tensor;
  if (!place(weight, tensor)) return false;
  weights_.push_back(std::move(weight));
  return true;
}

bool WeightSet::place(Weight& weight, ggml_tensor* tensor) {
  if (tensor->buffer != nullptr && !ggml_backend_buffer_is_host(tensor->buffer)) {
    weight.home = Home::kDevice;
    return true;
  }
  const auto repacked = placement_.repacked.find(weight.name);
  if (repacked != placement_.repacked.end()) {
    ggml_backend_buffer* buffer = buffer_of(repacked->second);
    return buffer != nullptr && place_repacked(weight, tensor, buffer);
  }
  if (sources_.keep == Keep::kCopied) {
    weight.home = Home::kCopied;
    return true;
  }
  tensor->data = mappings_[static_cast<std::size_t>(weight.shard)]->at(weight.offset);
  weight.lazy = is_embedding(weight.name) && !is_tied();
  return true;
}

bool WeightSet::place_repacked(Weight& weight, ggml_tensor* tensor, ggml_backend_buffer* buffer) {
  tensor->buffer = buffer;
  const auto stored = sources_.stored.find(weight.name);
  weight.from_stored = stored != sources_.stored.end();
  if (weight.from_stored) {
    weight.offset = stored->second.offset;
    weight.size = stored->second.size;
  }
  if (weight.from_stored && sources_.keep == Keep::kMapped) {
    weight.home = Home::kStored;
    tensor->data = stored_->at(weight.offset);
  } else {
    weight.home = weight.from_stored ? Home::kCopied : Home::kRepacked;
    Buffer& mine = *std::find_if(buffers_.begin(), buffers_.end(),
                                 [&](const Buffer& one) { return one.buffer == buffer; });
    tensor->data = static_cast<std::byte*>(ggml_backend_buffer_get_base(buffer)) + mine.used;
    const std::size_t size = ggml_backend_buffer_get_alloc_size(buffer, tensor);
    mine.used += (size + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    if (mine.used > ggml_backend_buffer_get_size(buffer)) return false;
  }
  return ggml_backend_buffer_init_tensor(buffer, tensor) == GGML_STATUS_SUCCESS;
}

// Memory for all of a kind at once; what the stored file has needs none, only the kind's methods.
ggml_backend_buffer* WeightSet::buffer_of(ggml_backend_buffer_type* type) {
  for (const Buffer& buffer : buffers_) {
    if (buffer.type == type) return buffer.buffer;
  }
  std::size_t size = kTensorAlignment;
  for (const auto& [name, kind] : placement_.repacked) {
    if (kind != type) continue;
    if (sources_.keep == Keep::kMapped && sources_.stored.contains(name)) continue;
    size += ggml_backend_buft_get_alloc_size(type, metadata_.shape(name)) + kTensorAlignment;
  }
  ggml_backend_buffer* buffer = ggml_backend_buft_alloc_buffer(type, size);
  if (buffer == nullptr) return nullptr;
  ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  buffers_.push_back({type, buffer, 0});
  return buffer;
}

void WeightSet::seal() {
  // One tensor of the file may have become several weights, each in the memory of its own device.
  gate_.expect(weights_.size());
  for (Weight& weight : weights_) {
    if (weight.home == Home::kMapped && is_embedding(weight.name) && is_on_device(weight.name)) {
      weight.lazy = true;
    }
  }
  std::stable_sort(weights_.begin(), weights_.end(), [](const Weight& a, const Weight& b) {
    const auto key = [](const Weight& w) {
      return std::tuple{order_of(w), w.from_stored, w.shard, w.offset};
    };
    return key(a) < key(b);
  });
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const Weight& weight = weights_[i];
    const bool by_page = is_embedding(weight.name) && weight.home == Home::kMapped;
    if (by_page) {
      // The kernel would read far around each row.
      const auto span = source(weight);
      const auto begin = reinterpret_cast<std::uintptr_t>(span.data()) & ~(page_size() - 1);
      const auto end = reinterpret_cast<std::uintptr_t>(span.data() + span.size());
      ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_RANDOM);
    }
    gate_.watch(weight.tensor, i, by_page ? WeightGate::Rows::kByPage : WeightGate::Rows::kWait);
  }
}

std::span<const std::byte> WeightSet::source(const Weight& weight) const {
  const Mapping& mapping =
      weight.from_stored ? *stored_ : *mappings_[static_cast<std::size_t>(weight.shard)];
  return {mapping.at(weight.offset), static_cast<std::size_t>(weight.size.count())};
}

void WeightSet::set(const Weight& weight, std::span<const std::byte> bytes) const {
  ggml_backend_tensor_set(weight.tensor, bytes.data(), 0, bytes.size());
}

std::span<std::byte> WeightSet::destination(const Weight& weight) const {
  return {static_cast<std::byte*>(weight.tensor->data),
          static_cast<std::size_t>(weight.size.count())};
}

std::span<const std::byte> WeightSet::repacked(const Weight& weight) const {
  return {static_cast<const std::byte*>(weight.tensor->data),
          ggml_backend_buffer_get_alloc_size(weight.tensor->buffer, weight.tensor)};
}

void WeightSet::blank(const Weight& weight) const {
  if (weight.home != Home::kMapped && weight.home != Home::kStored) return;
  const auto span = source(weight);
  const auto begin = reinterpret_cast<std::uintptr_t>(span.data()) & ~(page_size() - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(span.data() + span.size()) + page_size() - 1) &
                   ~(page_size() - 1);
  ::mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

bool WeightSet::rebuild(std::size_t index) {
  Weight& weight = weights_[index];
  ggml_backend_buffer_type* type = placement_.repacked.at(weight.name);
  const std::size_t size = ggml_backend_buft_get_alloc_size(type, weight.tensor);
  ggml_backend_buffer* buffer = ggml_backend_buft_alloc_buffer(type, size);
  if (buffer == nullptr) return false;
  ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  {
    std::lock_guard lock{mutex_};
    buffers_.push_back({nullptr, buffer, size});  // no kind: nothing else goes in there
  }
  const TensorSource& source = *metadata_.find(weight.name);
  weight.home = Home::kRepacked;
  weight.from_stored = false;
  weight.shard = source.shard;
  weight.offset = source.offset;
  weight.size = source.size;
  weight.tensor->buffer = buffer;
  weight.tensor->data = ggml_backend_buffer_get_base(buffer);
  return ggml_backend_buffer_init_tensor(buffer, weight.tensor) == GGML_STATUS_SUCCESS;
}

Result<> WeightSet::adopt(int stored_file, const std::unordered_map<std::string, Stored>& stored) {
  auto mapping = Mapping::of(stored_file);
  if (!mapping) return Failed{std::move(mapping).error()};
  for (Weight& weight : weights_) {
    const auto found = stored.find(weight.name);
    if (weight.home != Home::kRepacked || found == stored.end()) continue;
    const auto before = repacked(weight);
    if (found->second.size.count() != before.size() ||
        !(*mapping)->holds(found->second.offset, found->second.size)) {
      continue;
    }
    weight.home = Home::kStored;
    weight.from_stored = true;
    weight.offset = found->second.offset;
    weight.size = found->second.size;
    weight.tensor->data = (*mapping)->at(weight.offset);
    give_back(before);
  }
  if (stored_) retired_.push_back(std::move(stored_));
  stored_ = std::move(*mapping);
  return {};
}

Bytes WeightSet::repacked_bytes() const {
  Bytes sum;
  for (const Weight& weight : weights_) {
    if (is_repacked(weight)) sum += Bytes{repacked(weight).size()};
  }
  return sum;
}

Bytes WeightSet::bytes_in(Home home) const {
  Bytes sum;
  for (const Weight& weight : weights_) {
    if (weight.home == home) sum += weight.size;
  }
  return sum;
}

}  // namespace hearth::engine
