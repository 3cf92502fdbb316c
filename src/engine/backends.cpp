// SPDX-License-Identifier: Apache-2.0
#include "engine/backends.h"

#include <build-info.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <ggml-backend.h>
#include <link.h>
#include <llama.h>

#include <cstddef>
#include <string_view>

namespace hearth::engine {
namespace {

std::string library_directory() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&llama_backend_init), &info) == 0) return {};
  const std::string path{info.dli_fname};
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string{"."} : path.substr(0, slash);
}

int find_cpu_library(dl_phdr_info* info, std::size_t /*size*/, void* out) {
  constexpr std::string_view kPrefix = "libggml-cpu-";
  const std::string_view path{info->dlpi_name};
  const std::size_t at = path.rfind(kPrefix);
  if (at == path.npos) return 0;
  const std::string_view name = path.substr(at + kPrefix.size());
  static_cast<std::string*>(out)->assign(name.substr(0, name.find('.')));
  return 1;
}

}  // namespace

Result<Backends> load_backends() {
  ggml_backend_load_all_from_path(library_directory().c_str());
  if (ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) == nullptr) {
    return fail(ErrorCode::kInternal, "the engine has no CPU backend in " + library_directory());
  }
  Backends backends;
  ::dl_iterate_phdr(find_cpu_library, &backends.cpu_variant);
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    const auto type = ggml_backend_dev_type(device);
    if (type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU) {
      backends.devices.emplace_back(ggml_backend_dev_description(device));
    }
  }
  return backends;
}

std::string engine_name() {
  return fmt::format("llama.cpp {} ({})", llama_version(), llama_commit());
}

}  // namespace hearth::engine
