// SPDX-License-Identifier: Apache-2.0
#include "engine/compile_key.h"

#include <ggml-backend.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/files.h"
#include "base/sha256.h"

namespace hearth::engine {
namespace {

int note_library(dl_phdr_info* info, std::size_t /*size*/, void* out) {
  const std::string_view path{info->dlpi_name};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("libggml") || name.starts_with("libllama")) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(path);
  }
  return 0;
}

// A library's name and bytes. One that cannot be read counts by its name.
void add_file(Sha256& sum, const std::string& path) {
  sum.add(std::string_view{path}.substr(path.rfind('/') + 1));
  const auto file = Files::real().open_read(path);
  if (!file) return;
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  std::uint64_t offset = 0;
  for (;;) {
    const auto got = Files::real().read_at(*file, offset, buffer);
    if (!got || *got == 0) return;
    sum.add(std::span<const std::byte>{buffer.data(), *got});
    offset += *got;
  }
}

std::string digest_of_libraries() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(note_library, &paths);
  std::sort(paths.begin(), paths.end());
  Sha256 sum;
  for (const std::string& path : paths) add_file(sum, path);
  return hex_of(sum.finish());
}

// The first processor's description without what changes from boot to boot.
std::string processor() {
  const std::string all = read_small_file("/proc/cpuinfo");
  const std::string_view first = std::string_view{all}.substr(0, all.find("\n\n"));
  std::string out;
  std::size_t at = 0;
  while (at < first.size()) {
    const std::size_t end = std::min(first.find('\n', at), first.size());
    const std::string_view line = first.substr(at, end - at);
    constexpr std::array<std::string_view, 8> kKept{"vendor_id",  "cpu family", "model\t",
                                                    "model name", "stepping",   "flags",
                                                    "Features",   "CPU part"};
    const auto begins = [&](std::string_view word) { return line.starts_with(word); };
    if (std::any_of(kKept.begin(), kKept.end(), begins)) out.append(line).append("\n");
    at = end + 1;
  }
  return out;
}

}  // namespace

Platform platform_of(const Backends& backends) {
  static const std::string libraries = digest_of_libraries();
  Platform platform;
  platform.engine = libraries;
  Sha256 hardware;
  hardware.add(backends.cpu_variant).add("\n").add(processor());
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    const auto type = ggml_backend_dev_type(device);
    if (type == GGML_BACKEND_DEVICE_TYPE_CPU) continue;
    hardware.add(ggml_backend_dev_description(device)).add("\n");
  }
  platform.hardware = hex_of(hardware.finish());
  return platform;
}

}  // namespace hearth::engine
