// SPDX-License-Identifier: Apache-2.0
#include "front/memory/cgroup_memory.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "front/memory/figures.h"
#include "front/memory/machine_memory.h"

namespace hearth::front {
namespace {

// Version 1 says "no limit" with the largest multiple of a page; nobody has an exbibyte.
constexpr Bytes kNoLimit{std::uint64_t{1} << 60U};

std::optional<Bytes> bytes_in(const std::string& file) {
  const auto number = number_at(read_small_file(file));
  if (!number) return std::nullopt;
  return Bytes{*number};
}

std::optional<Bytes> limit_in(const std::string& file) {
  const auto limit = bytes_in(file);  // "max" is no number
  return limit && *limit < kNoLimit ? limit : std::nullopt;
}

std::optional<Bytes> lesser(std::optional<Bytes> a, std::optional<Bytes> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// The page cache of files in memory.stat. Version 1 has totals with the groups below beside the
// group's own figures, as the charge is.
Bytes file_cache_in(const std::string& stat, int version) {
  const std::string before = version == 1 ? "total_" : "";
  const auto figure = [&](const std::string& key) {
    const auto total = figure_in(stat, before + key);
    return total ? total : figure_in(stat, key);
  };
  const auto active = figure("active_file");
  const auto inactive = figure("inactive_file");
  if (active || inactive) return Bytes{active.value_or(0)} + Bytes{inactive.value_or(0)};
  const auto all = figure(version == 1 ? "cache" : "file");
  return Bytes{all.value_or(0)} - Bytes{figure("shmem").value_or(0)};
}

// One line of mountinfo: "36 35 0:31 /root /point options tags... - type source options".
struct CgroupMount {
  std::string_view root;  // the group that is seen at the mount's point
  std::string_view point;
  int version = 0;  // 0: no cgroups, or none with memory
};

CgroupMount mount_in(std::string_view line) {
  const std::size_t middle = line.find(" - ");
  if (middle == std::string_view::npos) return {};
  const auto before = pieces_of(line.substr(0, middle), ' ');
  const auto after = pieces_of(line.substr(middle + 3), ' ');
  if (before.size() < 5 || after.empty()) return {};
  const auto controllers =
      after.size() > 2 ? pieces_of(after[2], ',') : std::vector<std::string_view>{};
  const bool first =
      after[0] == "cgroup" && std::ranges::find(controllers, "memory") != controllers.end();
  if (!first && after[0] != "cgroup2") return {};
  return {before[3], before[4], first ? 1 : 2};
}

bool is_below(std::string_view path, std::string_view root) {
  return root == "/" || path == root ||
         (path.starts_with(root) && path.substr(root.size()).starts_with('/'));
}

// The path of this process in the hierarchy, out of lines such as "4:memory:/x" and "0::/x".
std::string_view own_path(std::string_view own, int version) {
  for (const std::string_view line : pieces_of(own, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const auto controllers = pieces_of(names, ',');
    const bool is_it = version == 2 ? names.empty()
                                    : std::ranges::find(controllers, "memory") != controllers.end();
    if (is_it) return line.substr(second + 1);
  }
  return {};
}

void add_places(const CgroupMount& mount, std::string_view path,
                std::vector<CgroupPlaces::Place>& places) {
  std::string below;
  // A path with ".." leads out of what this namespace shows.
  const bool outside = (std::string{path} + "/").find("/../") != std::string::npos;
  if (is_below(path, mount.root) && !outside) {
    below = path.substr(mount.root == "/" ? 0 : mount.root.size());
  }
  while (below.ends_with('/')) below.pop_back();
  while (true) {
    places.push_back({std::string{mount.point} + below, mount.version});
    if (below.empty()) return;
    below.resize(below.rfind('/'));
  }
}

}  // namespace

std::optional<CgroupMemory> cgroup_in(const std::string& root, const std::string& path,
                                      int version) {
  const std::string at = root + path;
  const bool first = version == 1;
  const auto limit = first ? limit_in(at + "/memory.limit_in_bytes")
                           : lesser(limit_in(at + "/memory.max"), limit_in(at + "/memory.high"));
  const auto used = bytes_in(at + (first ? "/memory.usage_in_bytes" : "/memory.current"));
  if (!limit || !used) return std::nullopt;
  const Bytes cache = file_cache_in(read_small_file(at + "/memory.stat"), version);
  const PressureFigures pressure =
      first ? PressureFigures{} : pressure_in(read_small_file(at + "/memory.pressure"));
  return CgroupMemory{
      path, version, *limit, *used, *used - cache, pressure.some_avg10, pressure.full_avg10};
}

std::vector<CgroupPlaces::Place> cgroup_places(std::string_view own, std::string_view mountinfo) {
  std::vector<CgroupPlaces::Place> places;
  for (const int version : {2, 1}) {
    const std::string_view path = own_path(own, version);
    if (!path.starts_with('/')) continue;
    // Of several mounts the one that shows most of the way to this process.
    std::optional<CgroupMount> best;
    for (const std::string_view line : pieces_of(mountinfo, '\n')) {
      const CgroupMount mount = mount_in(line);
      if (mount.version != version) continue;
      const bool shows = is_below(path, mount.root);
      const bool best_shows = best && is_below(path, best->root);
      const bool wider = best && shows && best_shows && mount.root.size() < best->root.size();
      if (!best || (shows && !best_shows) || wider) best = mount;
    }
    if (best) add_places(*best, path, places);
  }
  return places;
}

const std::vector<CgroupPlaces::Place>& CgroupPlaces::find(const std::string& root,
                                                           const std::string& own) {
  if (own != own_ || places_.empty()) {
    places_ = cgroup_places(own, read_small_file(root + "/proc/self/mountinfo"));
    own_ = own;
  }
  return places_;
}

std::optional<CgroupMemory> tightest_cgroup(const std::string& root,
                                            const std::vector<CgroupPlaces::Place>& places) {
  std::optional<CgroupMemory> least;
  for (const CgroupPlaces::Place& place : places) {
    auto group = cgroup_in(root, place.path, place.version);
    if (group && (!least || group->room() < least->room())) least = std::move(group);
  }
  return least;
}

}  // namespace hearth::front
