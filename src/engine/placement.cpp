// SPDX-License-Identifier: Apache-2.0
#include "engine/placement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <gguf.h>
#include <llama.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/sha256.h"
#include "engine/context_params.h"
#include "engine/engine_log.h"

namespace hearth::engine {
namespace {

constexpr int kProbeTokens = 512;  // of the batch by which the engine tries an operation

struct Release {
  void operator()(ggml_context* context) const { ggml_free(context); }
  void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
  void operator()(llama_model* model) const { llama_model_free(model); }
  void operator()(llama_context* context) const { llama_free(context); }
};
template <class T>
using Owned = std::unique_ptr<T, Release>;

std::vector<ggml_backend_buffer_type*> repacking_types(ggml_backend_dev_t cpu) {
  std::vector<ggml_backend_buffer_type*> types;
  void* address = ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(cpu),
                                                    "ggml_backend_dev_get_extra_bufts");
  if (address == nullptr) return types;
  const auto list = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(address);
  for (auto* type = list(cpu); type != nullptr && *type != nullptr; ++type) types.push_back(*type);
  return types;
}

// Tensors of which rows are looked up are in no layout that only multiplications understand.
bool is_table(std::string_view name) {
  constexpr std::array<std::string_view, 4> kTables{"token_embd", "token_types", "position_embd",
                                                    "pos_embd"};
  return std::any_of(kTables.begin(), kTables.end(),
                     [&](std::string_view table) { return name.find(table) != name.npos; });
}

// The engine's own test: whether the CPU would multiply with this weight in that kind of buffer.
bool multiplies(ggml_backend_dev_t cpu, ggml_backend_buffer_type* type, const ggml_tensor& shape) {
  const Owned<ggml_context> scratch{ggml_init({ggml_tensor_overhead() * 8, nullptr, true})};
  ggml_tensor* weight = ggml_dup_tensor(scratch.get(), &shape);
  ggml_tensor* product = nullptr;
  if (ggml_n_dims(weight) > 2) {
    const int experts = static_cast<int>(weight->ne[2]);
    ggml_tensor* rows =
        ggml_new_tensor_3d(scratch.get(), GGML_TYPE_F32, weight->ne[0], experts, kProbeTokens);
    ggml_tensor* chosen = ggml_new_tensor_2d(scratch.get(), GGML_TYPE_I32, experts, kProbeTokens);
    product = ggml_mul_mat_id(scratch.get(), weight, rows, chosen);
  } else {
    ggml_tensor* rows = ggml_new_tensor_4d(scratch.get(), GGML_TYPE_F32, weight->ne[0],
                                           kProbeTokens, weight->ne[2], weight->ne[3]);
    product = ggml_mul_mat(scratch.get(), weight, rows);
  }
  const Owned<ggml_backend_buffer> empty{ggml_backend_buft_alloc_buffer(type, 0)};
  weight->buffer = empty.get();
  return ggml_backend_dev_supports_op(cpu, product);
}

class Choice {
 public:
  explicit Choice(ggml_backend_dev_t cpu) : cpu_{cpu}, types_{repacking_types(cpu)} {}

  ggml_backend_buffer_type* of(const std::string& name, const ggml_tensor& shape) const {
    if (!ggml_is_quantized(shape.type) || ggml_n_dims(&shape) < 2 || is_table(name)) return nullptr;
    return of_product(shape);
  }
  ggml_backend_buffer_type* of_product(const ggml_tensor& shape) const {
    for (ggml_backend_buffer_type* type : types_) {
      if (multiplies(cpu_, type, shape)) return type;
    }
    return nullptr;
  }

 private:
  ggml_backend_dev_t cpu_;
  std::vector<ggml_backend_buffer_type*> types_;
};

void choose(const Metadata& metadata, ggml_backend_dev_t cpu, Placement& placement) {
  const Choice choice{cpu};
  for (const TensorSource& source : metadata.tensors()) {
    const ggml_tensor* shape = metadata.shape(source.name);
    auto* type = shape == nullptr ? nullptr : choice.of(source.name, *shape);
    if (type == nullptr) continue;
    placement.repacked[source.name] = type;
    placement.repacked_bytes += Bytes{ggml_backend_buft_get_alloc_size(type, shape)};
  }
}

// The model's header with holes in place of weights. Lives as long as the descriptor.
Result<Fd> hollow_file(const gguf_context* metadata) {
  Fd file{::memfd_create("hearth-header", MFD_CLOEXEC)};
  if (!file) return fail_errno("memfd_create", errno);
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  if (!gguf_write_to_file(metadata, path.c_str(), true)) {
    return fail(ErrorCode::kInternal, "the header could not be written to memory");
  }
  std::uint64_t end = 0;
  for (std::int64_t i = 0; i < gguf_get_n_tensors(metadata); ++i) {
    end = std::max<std::uint64_t>(
        end, gguf_get_tensor_offset(metadata, i) + gguf_get_tensor_size(metadata, i));
  }
  end += gguf_get_meta_size(metadata) + gguf_get_alignment(metadata);
  if (::ftruncate(file.get(), static_cast<off_t>(end)) != 0) return fail_errno("ftruncate", errno);
  return file;
}

Result<MemoryUse> use_of_plain_load(const Metadata& metadata, Repack repack,
                                    const Context::Options& options) {
  auto file = hollow_file(metadata.handle());
  if (!file) return Failed{std::move(file).error()};
  llama_model_params params = llama_model_default_params();
  params.load_mode = LLAMA_LOAD_MODE_NONE;
  params.no_alloc = true;
  params.use_extra_bufts = repack == Repack::kYes;
  const std::string path = fmt::format("/proc/self/fd/{}", file->get());
  take_engine_error();
  const Owned<llama_model> model{llama_model_load_from_file(path.c_str(), params)};
  if (!model) return fail(ErrorCode::kCorrupt, take_engine_error());
  const Owned<llama_context> context{llama_init_from_model(model.get(), context_params(options))};
  if (!context) return fail(ErrorCode::kUnsupported, take_engine_error());
  return memory_use_of(context.get());
}

std::string layout_of(const Metadata& metadata, const Placement& placement) {
  Sha256 sum;
  for (const TensorSource& source : metadata.tensors()) {
    const auto found = placement.repacked.find(source.name);
    if (found == placement.repacked.end()) continue;
    sum.add(fmt::format("{} {} {} {}\n", source.name,
                        static_cast<int>(metadata.shape(source.name)->type), source.size.count(),
                        ggml_backend_buft_name(found->second)));
  }
  return hex_of(sum.finish());
}

}  // namespace

Result<Placement> place(Metadata& metadata, Repack repack, int cells, int sequences) {
  Placement placement;
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  auto use = use_of_plain_load(metadata, repack, {cells, sequences});
  if (!use) return Failed{std::move(use).error()};
  placement.estimate = *use;
  if (use->repacked > Bytes{}) choose(metadata, cpu, placement);
  // A tied embedding can be repacked for its second use, as the output.
  const ggml_tensor* embedding = metadata.shape("token_embd.weight");
  if (placement.repacked_bytes < use->repacked && embedding != nullptr) {
    metadata.add_output();
    if (auto* type = Choice{cpu}.of_product(*embedding)) {
      placement.repacked["output.weight"] = type;
      placement.repacked_bytes += Bytes{ggml_backend_buft_get_alloc_size(type, embedding)};
    }
  }
  if (placement.repacked_bytes != use->repacked) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the engine would repack {} bytes, and we {}", use->repacked.count(),
                            placement.repacked_bytes.count()));
  }
  placement.layout = layout_of(metadata, placement);
  return placement;
}

}  // namespace hearth::engine
