// SPDX-License-Identifier: Apache-2.0
#include "engine/backends.h"

#include <build-info.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <ggml-backend.h>
#include <link.h>
#include <llama.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace hearth::engine {
namespace {

constexpr std::string_view kCpuLibrary = "libggml-cpu-";

std::string library_directory() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&llama_backend_init), &info) == 0) return {};
  const std::string path{info.dli_fname};
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string{"."} : path.substr(0, slash);
}

int find_cpu_library(dl_phdr_info* info, std::size_t /*size*/, void* out) {
  const std::string_view path{info->dlpi_name};
  const std::size_t at = path.rfind(kCpuLibrary);
  if (at == path.npos) return 0;
  const std::string_view name = path.substr(at + kCpuLibrary.size());
  static_cast<std::string*>(out)->assign(name.substr(0, name.find('.')));
  return 1;
}

// The word comes from another process: it must name a file in the directory, and not a path.
bool is_plain(const std::string& variant) {
  return !variant.empty() && std::ranges::all_of(variant, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// What lies beside the engine and is for no CPU: "libggml-vulkan.so".
std::vector<std::string> device_libraries(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator{directory, ignored}) {
    const std::string name = entry.path().filename().string();
    const bool for_devices = name.starts_with("libggml-") && name.ends_with(".so") &&
                             !name.starts_with("libggml-base") && !name.starts_with("libggml-cpu");
    if (for_devices) found.push_back(entry.path().string());
  }
  std::ranges::sort(found);
  return found;
}

// One of fourteen libraries in place of a look at each. The engine refuses it, and false comes
// back, where this machine lacks an instruction that it needs.
bool load_known(const std::string& directory, const std::string& variant) {
  if (!is_plain(variant)) return false;
  const std::string path = fmt::format("{}/{}{}.so", directory, kCpuLibrary, variant);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return false;
  if (ggml_backend_load(path.c_str()) == nullptr) return false;
  for (const std::string& library : device_libraries(directory)) {
    ggml_backend_load(library.c_str());  // without its driver there are no devices
  }
  return true;
}

}  // namespace

Result<Backends> load_backends(const std::string& variant) {
  const std::string directory = library_directory();
  if (!load_known(directory, variant)) ggml_backend_load_all_from_path(directory.c_str());
  if (ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) == nullptr) {
    return fail(ErrorCode::kInternal, "the engine has no CPU backend in " + directory);
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
