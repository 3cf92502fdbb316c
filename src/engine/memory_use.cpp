// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_use.h"

#include <ggml-backend.h>
#include <llama-ext.h>

#include <string_view>

namespace hearth::engine {
namespace {

bool is_on_gpu(ggml_backend_buffer_type_t type) {
  ggml_backend_dev_t device = ggml_backend_buft_get_device(type);
  if (device == nullptr || ggml_backend_buft_is_host(type)) return false;
  return ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_GPU;
}

}  // namespace

MemoryUse memory_use_of(const llama_context* context) {
  MemoryUse use;
  for (const auto& [type, part] : llama_get_memory_breakdown(context)) {
    const std::string_view name = ggml_backend_buft_name(type);
    const bool repacked = name.find("REPACK") != name.npos || name.find("AMX") != name.npos;
    const Bytes model{part.model};
    if (repacked) use.repacked += model;
    // Plain CPU weights are a view of the mapped file; the engine names that buffer type like any
    // other.
    (name == "CPU" || name == "CPU_Mapped" ? use.mapped : use.weights) += model;
    use.context += Bytes{part.context};
    use.compute += Bytes{part.compute};
    if (is_on_gpu(type)) use.device += Bytes{part.model + part.context + part.compute};
  }
  return use;
}

}  // namespace hearth::engine
