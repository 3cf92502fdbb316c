// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "layers/pages/mounts.h"
#include "layers/pages/small_file.h"

namespace hearth {
namespace {

using namespace literals;

constexpr Bytes kLeastReadAhead = 128_KiB;
// Where every request costs a seek or a round trip.
constexpr Bytes kLeastReadAheadFar = 1_MiB;
constexpr int kMostLayers = 8;  // of volumes on volumes

constexpr std::array<std::string_view, 15> kNetworks{
    "nfs",   "nfs4", "cifs", "smb3",  "smbfs",  "ceph",   "9p",       "afs",
    "ncpfs", "coda", "gfs2", "ocfs2", "lustre", "beegfs", "glusterfs"};

bool exists(const Files& files, const std::string& path) { return files.info(path).has_value(); }

DeviceKind kind_by_name(std::string_view file_system) {
  if (std::ranges::find(kNetworks, file_system) != kNetworks.end()) return DeviceKind::kNetwork;
  if (file_system == "tmpfs" || file_system == "ramfs" || file_system == "hugetlbfs") {
    return DeviceKind::kMemory;
  }
  // fuseblk has a disk below, which will tell.
  if (file_system == "fuse" || file_system.starts_with("fuse.") || file_system == "virtiofs") {
    return DeviceKind::kUser;
  }
  return DeviceKind::kUnknown;
}

std::string_view last_step(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The directory of the whole disk, or of the volume, in /sys/devices; empty: there is none.
std::string block_directory(const Files& files, const Mount& mount) {
  std::string found;
  if (!mount.device.starts_with("0:")) found = "/sys/dev/block/" + mount.device;
  // A file system of many volumes has a number of its own, but says what it was mounted from.
  if (found.empty() && mount.source.starts_with("/dev/")) {
    const std::string real = files.real_path(mount.source).value_or(mount.source);
    found = "/sys/class/block/" + std::string{last_step(real)};
  }
  if (found.empty()) return {};
  std::string real = files.real_path(found).value_or("");
  if (!real.empty() && exists(files, real + "/partition")) real.resize(real.rfind('/'));
  return real;
}

// A volume that lies on one disk alone is that disk: encryption, a logical volume.
std::string lowest_single(const Files& files, std::string directory) {
  for (int layer = 0; layer < kMostLayers; ++layer) {
    const auto slaves = files.list(directory + "/slaves");
    if (!slaves || slaves->size() != 1) break;
    std::string below = files.real_path(directory + "/slaves/" + slaves->front()).value_or("");
    if (below.empty()) break;
    if (exists(files, below + "/partition")) below.resize(below.rfind('/'));
    directory = std::move(below);
  }
  return directory;
}

// Of a virtual disk the flag says what its driver presumes, not what is below.
bool is_virtual(std::string_view directory) {
  return directory.find("/virtio") != std::string_view::npos ||
         last_step(directory).starts_with("xvd");
}

DeviceKind kind_of_disk(const Files& files, const std::string& directory, int layers) {
  const auto slaves = files.list(directory + "/slaves");
  if (layers > 0 && slaves && !slaves->empty()) {
    DeviceKind worst = DeviceKind::kUnknown;
    for (const std::string& slave : *slaves) {
      std::string below = files.real_path(directory + "/slaves/" + slave).value_or("");
      if (exists(files, below + "/partition")) below.resize(below.rfind('/'));
      worst = std::max(worst, kind_of_disk(files, below, layers - 1));
    }
    return worst;
  }
  const std::string flag = small_text(files, directory + "/queue/rotational");
  if (flag.empty() || is_virtual(directory)) return DeviceKind::kUnknown;
  return flag.front() == '1' ? DeviceKind::kRotational : DeviceKind::kSolid;
}

std::string key_of_disk(const Files& files, const std::string& directory) {
  for (const char* name :
       {"/dm/uuid", "/md/uuid", "/wwid", "/device/wwid", "/serial", "/device/serial"}) {
    std::string own = small_text(files, directory + name);
    if (!own.empty()) return "disk:" + std::move(own);
  }
  return fmt::format("disk:{}:{}", last_step(directory), small_text(files, directory + "/size"));
}

void add_read_ahead(const Files& files, Device& device, std::string file) {
  const std::string text = small_text(files, file);
  std::uint64_t kib = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kib);
  if (error != std::errc{} || kib > (1U << 30U)) return;
  device.read_ahead = Bytes{kib << 10U};
  device.read_ahead_file = std::move(file);
}

void add_disk(const Files& files, Device& device, const std::string& directory) {
  const std::string disk = lowest_single(files, directory);
  device.kind = kind_of_disk(files, disk, kMostLayers);
  device.key = key_of_disk(files, disk);
  device.name = last_step(disk);
  add_read_ahead(files, device, directory + "/queue/read_ahead_kb");
}

}  // namespace

std::string_view name_of(DeviceKind kind) {
  constexpr std::array<std::string_view, 6> kNames{"unknown", "ssd",  "rotational",
                                                   "network", "fuse", "memory"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool takes_direct_reads(const Device& device) {
  return !device.stacked && device.kind != DeviceKind::kMemory &&
         device.kind != DeviceKind::kUser && !device.file_system.empty();
}

std::string read_ahead_finding(const Device& device) {
  if (!device.read_ahead || device.kind == DeviceKind::kMemory) return {};
  const bool far = device.kind == DeviceKind::kRotational || device.kind == DeviceKind::kNetwork ||
                   device.kind == DeviceKind::kUser;
  const Bytes least = far ? kLeastReadAheadFar : kLeastReadAhead;
  if (*device.read_ahead >= least) return {};
  return fmt::format(
      "the kernel reads {} KiB ahead, {} KiB would be better for mapped files: echo {} | sudo tee "
      "{}",
      device.read_ahead->count() >> 10U, least.count() >> 10U, least.count() >> 10U,
      device.read_ahead_file);
}

Device device_of(const Files& files, const std::string& path) {
  Device device;
  const std::string real = files.real_path(path).value_or(path);
  const std::string mounts = small_text(files, "/proc/self/mountinfo");
  const std::optional<Mount> mount = mount_of(mounts, real);
  if (!mount) return device;
  device.file_system = mount->file_system;
  device.source = mount->source;
  device.stacked = mount->file_system == "overlay";
  device.kind = kind_by_name(mount->file_system);
  // Without anything better: the mount.
  device.key = fmt::format("{}:{}:{}", mount->file_system, mount->source, mount->point);
  device.name = mount->file_system;
  if (device.kind == DeviceKind::kNetwork || device.kind == DeviceKind::kUser) {
    // One line to one server, however many of its folders are mounted.
    device.name = server_of(mount->source);
    if (device.kind == DeviceKind::kNetwork) device.key = "net:" + device.name;
    add_read_ahead(files, device, "/sys/class/bdi/" + mount->device + "/read_ahead_kb");
    return device;
  }
  if (device.kind == DeviceKind::kMemory) {
    device.key = device.name = "memory";
    return device;
  }
  if (const std::string disk = block_directory(files, *mount); !disk.empty()) {
    add_disk(files, device, disk);
  }
  return device;
}

}  // namespace hearth
