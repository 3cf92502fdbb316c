// SPDX-License-Identifier: Apache-2.0
#include "front/driver_caches.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/sha256.h"

namespace hearth::front {
namespace {

constexpr int kDeepest = 8;  // directories below each other
constexpr std::size_t kDigits = 16;

struct Variable {
  std::string_view name;
  std::string_view folder;  // below ours; empty: `value` as it is
  std::string_view value;
};
// CUDA's own bound of 1 GiB is less than the kernels of one engine build for one GPU can be, and
// NVIDIA's GL and Vulkan cache is otherwise cut down to 128 MiB at will.
constexpr std::array kKept{Variable{"MESA_SHADER_CACHE_DIR", "mesa", ""},
                           Variable{"__GL_SHADER_DISK_CACHE_PATH", "nvidia", ""},
                           Variable{"__GL_SHADER_DISK_CACHE_SKIP_CLEANUP", "", "1"},
                           Variable{"CUDA_CACHE_PATH", "cuda", ""},
                           Variable{"CUDA_CACHE_MAXSIZE", "", "4294967296"},
                           Variable{"CUDA_MODULE_LOADING", "", "LAZY"}};
constexpr std::array kNotKept{
    Variable{"MESA_SHADER_CACHE_DISABLE", "", "true"}, Variable{"__GL_SHADER_DISK_CACHE", "", "0"},
    Variable{"CUDA_CACHE_DISABLE", "", "1"}, Variable{"CUDA_MODULE_LOADING", "", "LAZY"}};

Bytes size_below(const Files& files, const std::string& directory, int depth) {
  Bytes total;
  const auto names = files.list(directory);
  if (!names || depth > kDeepest) return total;
  for (const std::string& name : *names) {
    const std::string path = directory + "/" + name;
    const Result<FileInfo> info = files.link_info(path);
    if (!info) continue;
    if (info->kind == FileKind::kRegular) total += info->size;
    if (info->kind == FileKind::kDirectory) total += size_below(files, path, depth + 1);
  }
  return total;
}

// Links themselves, never what they lead to.
Bytes remove_below(const Files& files, const std::string& directory, int depth) {
  Bytes freed;
  const auto names = files.list(directory);
  if (!names || depth > kDeepest) return freed;
  for (const std::string& name : *names) {
    const std::string path = directory + "/" + name;
    const Result<FileInfo> info = files.link_info(path);
    if (!info) continue;
    if (info->kind == FileKind::kDirectory) freed += remove_below(files, path, depth + 1);
    const Result<> removed = files.remove(path);
    if (removed && info->kind == FileKind::kRegular) freed += info->size;
  }
  return freed;
}

std::string value_in(const DriverCaches::Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string{} : found->second;
}

}  // namespace

std::string driver_digest(const Files& files, const DriverCaches::Environment& environment) {
  Sha256 digest;
  digest.add(read_small_file("/sys/module/nvidia/version"));
  digest.add(read_small_file("/sys/module/amdgpu/version"));
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    digest.add(value_in(environment, name)).add("|");
  }
  // A driver's description is written anew with each of its versions.
  for (const std::string directory : {"/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"}) {
    const auto names = files.list(directory);
    if (!names) continue;
    for (const std::string& name : *names) {
      const Result<FileInfo> info = files.info(directory + "/" + name);
      if (info) digest.add(name).add(std::to_string(info->modified_ns)).add("|");
    }
  }
  return hex_of(digest.finish());
}

DriverCaches::DriverCaches(World world, Keep keep) : world_{std::move(world)}, keep_{keep} {
  Sha256 engine;
  engine.add(world_.engine);
  ours_ = hex_of(engine.finish()).substr(0, kDigits) + "-";
  const std::string driver = driver_digest(world_.files, world_.environment);
  directory_ = world_.directory + "/" + ours_ + driver.substr(0, kDigits);
  if (keep_ == Keep::kOff) return;
  for (const Variable& each : kKept) {
    if (each.folder.empty()) continue;
    // Without it the drivers keep nothing, and nothing else is lost.
    (void)world_.files.make_directories(directory_ + "/" + std::string{each.folder}, 0700);
  }
}

std::vector<std::string> DriverCaches::variables() const {
  const std::span<const Variable> all =
      keep_ == Keep::kOn ? std::span<const Variable>{kKept} : std::span<const Variable>{kNotKept};
  std::vector<std::string> set;
  for (const Variable& each : all) {
    const std::string name{each.name};
    std::string value =
        each.folder.empty() ? std::string{each.value} : directory_ + "/" + std::string{each.folder};
    const auto users = world_.environment.find(name);
    if (users != world_.environment.end()) value = users->second;
    set.push_back(name + "=" + value);
  }
  return set;
}

Task<Bytes> DriverCaches::size() {
  auto job = [&files = world_.files, directory = directory_] {
    return size_below(files, directory, 0);
  };
  last_ = co_await world_.pool.run(world_.loop, std::move(job));
  co_return last_;
}

Task<void> DriverCaches::drop_others() {
  auto job = [&files = world_.files, all = world_.directory, kept = directory_, ours = ours_] {
    bool same_engine = false;
    const auto names = files.list(all);
    if (!names) return same_engine;
    for (const std::string& name : *names) {
      const std::string path = all + "/" + name;
      if (path == kept) continue;
      same_engine = same_engine || name.starts_with(ours);
      (void)remove_below(files, path, 0);
      (void)files.remove(path);
    }
    return same_engine;
  };
  const bool same_engine = co_await world_.pool.run(world_.loop, std::move(job));
  drivers_changed_ = drivers_changed_ || same_engine;
}

Task<Bytes> DriverCaches::drop() {
  auto job = [&files = world_.files, directory = directory_] {
    Bytes freed;
    const auto folders = files.list(directory);
    if (!folders) return freed;
    for (const std::string& folder : *folders) {
      freed += remove_below(files, directory + "/" + folder, 0);
    }
    return freed;
  };
  const Bytes freed = co_await world_.pool.run(world_.loop, std::move(job));
  last_ = {};
  co_return freed;
}

}  // namespace hearth::front
