// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/storage_tier.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/files.h"
#include "base/text.h"

namespace hearth::lab {
namespace {

constexpr const char* kRoot = "/sys/fs/cgroup";
constexpr std::string_view kLimitOfV2 = "io.max";
constexpr int kPatience = 100;  // times 20 ms, until processes have left a group

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Result<> write_line(const std::string& path, const std::string& line) {
  const Fd file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (file.get() < 0) return fail_errno("open " + path, errno, ErrorCode::kUnsupported);
  if (::write(file.get(), line.data(), line.size()) < 0) {
    return fail_errno("write " + path, errno, ErrorCode::kUnsupported);
  }
  return {};
}

std::string device_of(dev_t device) {
  return limited_device("/sys/dev/block", fmt::format("{}:{}", major(device), minor(device)));
}

struct Dialect {
  std::string directory;  // of groups
  std::string_view file;  // that takes the limit
  std::string line;
};

Dialect dialect_of(dev_t device, std::uint64_t bytes_per_s) {
  if (exists(std::string{kRoot} + "/blkio")) {
    return {std::string{kRoot} + "/blkio", "blkio.throttle.read_bps_device",
            fmt::format("{} {}", device_of(device), bytes_per_s)};
  }
  return {kRoot, kLimitOfV2, fmt::format("{} rbps={}", device_of(device), bytes_per_s)};
}

// Groups below take a limit only where their parent hands the controller on.
Result<> hand_on_io(const std::string& directory) {
  return write_line(directory + "/cgroup.subtree_control", "+io");
}

}  // namespace

std::string limited_device(const std::string& block, const std::string& device) {
  const std::string entry = block + '/' + device;
  if (!exists(entry + "/partition")) return device;
  const std::string disk = read_small_file(entry + "/../dev");
  return disk.empty() ? device : std::string{trimmed(disk, " \n")};
}

Result<StorageTier> storage_tier(std::string_view text) {
  if (text == "hdd") return StorageTier{"hard disk", 120};
  if (text == "usb") return StorageTier{"USB stick", 70};
  if (text == "sata") return StorageTier{"SATA SSD", 500};
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc{} || end != text.data() + text.size() || !(rate >= 1) || rate > 1e6) {
    return fail(
        ErrorCode::kInvalid,
        "a storage tier is hdd, usb, sata or a number of MB/s, not \"" + std::string{text} + "\"");
  }
  return StorageTier{fmt::format("{:.0f} MB/s", rate), rate};
}

Result<ReadLimit> ReadLimit::make(const std::string& file, double megabytes_per_s,
                                  Journal* journal) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) return fail_errno("stat " + file, errno);
  const Dialect dialect =
      dialect_of(found.st_dev, static_cast<std::uint64_t>(megabytes_per_s * 1e6));
  const std::string group =
      fmt::format("{}/hearth-lab-{}-{:.0f}", dialect.directory, ::getpid(), megabytes_per_s);
  if (journal != nullptr) {
    const Result<> noted =
        journal->add({.kind = Undo::Kind::kRemoveGroup, .subject = group, .detail = {}});
    if (!noted) return Failed{noted.error()};
  }
  if (dialect.file == kLimitOfV2) {
    const Result<> on = hand_on_io(dialect.directory);
    if (!on) return Failed{Error{on.error()}.during("limit reads")};
  }
  if (::mkdir(group.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail_errno("make control group " + group, errno);
  }
  ReadLimit limit{group};
  const Result<> limited = write_line(fmt::format("{}/{}", group, dialect.file), dialect.line);
  if (!limited) return Failed{Error{limited.error()}.during("limit reads")};
  return limit;
}

ReadLimit::ReadLimit(ReadLimit&& other) noexcept : group_{std::exchange(other.group_, {})} {}

ReadLimit& ReadLimit::operator=(ReadLimit&& other) noexcept {
  if (this != &other) {
    remove();
    group_ = std::exchange(other.group_, {});
  }
  return *this;
}

ReadLimit::~ReadLimit() { remove(); }

void ReadLimit::remove() {
  if (group_.empty()) return;
  for (int n = 0; n < kPatience && ::rmdir(group_.c_str()) != 0 && errno == EBUSY; ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  group_.clear();
}

std::vector<std::string> ReadLimit::within() const {
  return {"/bin/sh", "-c", R"(echo $$ > "$0"/cgroup.procs && exec "$@")", group_};
}

}  // namespace hearth::lab
