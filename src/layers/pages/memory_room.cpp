// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/memory_room.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "layers/pages/small_file.h"

namespace hearth {
namespace {

std::optional<std::uint64_t> number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

// The number after `key` where that begins a line.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    if (text.starts_with(key)) return number_at(text.substr(key.size()));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return std::nullopt;
}

struct Hierarchy {
  std::string_view controller;
  std::string_view root;
  std::string_view limit;
  std::string_view usage;
};
constexpr Hierarchy kHierarchies[] = {
    {"", "/sys/fs/cgroup", "/memory.max", "/memory.current"},
    {"memory", "/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes"},
};

// A limit anywhere above holds too. In a container the path may not lead anywhere; its root does.
std::optional<Bytes> tightest(const Files& files, const Hierarchy& of, std::string path) {
  std::optional<Bytes> least;
  while (true) {
    const std::string directory = std::string{of.root} + path;
    const std::string limit = small_text(files, directory + std::string{of.limit});
    if (!limit.empty()) {
      const auto room = room_in_cgroup(limit, small_text(files, directory + std::string{of.usage}),
                                       small_text(files, directory + "/memory.stat"));
      if (room && (!least || *room < *least)) least = room;
    }
    if (path.empty()) return least;
    path.resize(path.rfind('/'));
  }
}

}  // namespace

std::optional<Bytes> available_in(std::string_view meminfo) {
  const auto kib = number_after(meminfo, "MemAvailable:");
  if (!kib) return std::nullopt;
  return Bytes{*kib << 10U};
}

std::optional<Bytes> room_in_cgroup(std::string_view limit, std::string_view usage,
                                    std::string_view stat) {
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60U;
  const auto most = number_at(limit);  // "max" is no number
  const auto used = number_at(usage);
  if (!most || !used || *most >= kNoLimit) return std::nullopt;
  // Version 1 has totals of the groups below beside the group's own figures.
  const auto figure = [&](std::string_view total, std::string_view own) {
    const auto found = number_after(stat, total);
    return found ? *found : number_after(stat, own).value_or(0);
  };
  const Bytes cache{figure("total_active_file ", "active_file ") +
                    figure("total_inactive_file ", "inactive_file ")};
  return Bytes{*most} - (Bytes{*used} - cache);
}

std::optional<std::string_view> cgroup_path(std::string_view cgroups, std::string_view controller) {
  while (!cgroups.empty()) {
    const std::string_view line = cgroups.substr(0, cgroups.find('\n'));
    cgroups.remove_prefix(std::min(line.size() + 1, cgroups.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string names = ',' + std::string{line.substr(first + 1, second - first - 1)} + ',';
    const std::string wanted = ',' + std::string{controller} + ',';
    const bool is_it = controller.empty() ? names == ",," : names.find(wanted) != names.npos;
    if (is_it) return line.substr(second + 1);
  }
  return std::nullopt;
}

std::optional<Bytes> memory_room(const Files& files) {
  std::optional<Bytes> room = available_in(small_text(files, "/proc/meminfo"));
  const std::string cgroups = small_text(files, "/proc/self/cgroup");
  for (const Hierarchy& hierarchy : kHierarchies) {
    const auto path = cgroup_path(cgroups, hierarchy.controller);
    if (!path) continue;
    std::string below{*path == "/" ? std::string_view{} : *path};
    if (!below.empty() && below.front() != '/') continue;
    const auto limited = tightest(files, hierarchy, std::move(below));
    if (limited && (!room || *limited < *room)) room = limited;
  }
  return room;
}

}  // namespace hearth
