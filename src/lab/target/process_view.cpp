// SPDX-License-Identifier: Apache-2.0
#include "lab/target/process_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "base/files.h"

namespace hearth::lab {
namespace {

namespace fs = std::filesystem;

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// Fields of /proc/PID/stat from the state on, which is number 3 of proc(5). The name before them
// may hold anything.
std::vector<std::string> stat_fields(pid_t pid) {
  const std::string stat = read_small_file(fmt::format("/proc/{}/stat", pid));
  const std::size_t close = stat.rfind(')');
  if (close == std::string::npos) return {};
  std::istringstream words{stat.substr(close + 1)};
  std::vector<std::string> fields;
  for (std::string word; words >> word;) fields.push_back(word);
  return fields;
}

constexpr std::size_t kState = 0;
constexpr std::size_t kParent = 1;

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator{"/proc", ignored}) {
    if (const auto pid = number_in<pid_t>(entry.path().filename().string())) found.push_back(*pid);
  }
  return found;
}

std::optional<pid_t> parent_of(pid_t pid) {
  const std::vector<std::string> fields = stat_fields(pid);
  if (fields.size() <= kParent || fields[kState] == "Z") return std::nullopt;
  return number_in<pid_t>(fields[kParent]);
}

// "socket:[123]" -> 123.
std::set<std::uint64_t> socket_inodes(pid_t pid) {
  std::set<std::uint64_t> inodes;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator{fmt::format("/proc/{}/fd", pid), error}) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    if (gone || !target.starts_with("socket:[")) continue;
    const std::string_view digits = std::string_view{target}.substr(8, target.size() - 9);
    if (const auto inode = number_in<std::uint64_t>(digits)) inodes.insert(*inode);
  }
  return inodes;
}

// inode -> port of the sockets of this network namespace that listen.
std::map<std::uint64_t, std::uint16_t> listening_sockets() {
  std::map<std::uint64_t, std::uint16_t> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::istringstream lines{read_small_file(table)};
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream words{line};
      std::vector<std::string> fields;
      for (std::string word; words >> word;) fields.push_back(word);
      if (fields.size() < 10 || fields[3] != "0A") continue;
      const std::string_view local = fields[1];
      const auto port = number_in<std::uint16_t>(local.substr(local.rfind(':') + 1), 16);
      const auto inode = number_in<std::uint64_t>(fields[9]);
      if (port && inode) found[*inode] = *port;
    }
  }
  return found;
}

bool is_of_the_system(std::string_view path) {
  for (const char* folder : {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/dev/", "/memfd:"}) {
    if (path.starts_with(folder)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::uint16_t> listening_ports(pid_t pid) {
  const std::set<std::uint64_t> ours = socket_inodes(pid);
  std::set<std::uint16_t> ports;
  for (const auto& [inode, port] : listening_sockets()) {
    if (ours.contains(inode)) ports.insert(port);
  }
  return {ports.begin(), ports.end()};
}

std::vector<pid_t> listeners(std::uint16_t port) {
  std::set<std::uint64_t> inodes;
  for (const auto& [inode, at] : listening_sockets()) {
    if (at == port) inodes.insert(inode);
  }
  std::set<pid_t> found;
  for (const pid_t pid : inodes.empty() ? std::vector<pid_t>{} : all_processes()) {
    const std::set<std::uint64_t> theirs = socket_inodes(pid);
    if (std::ranges::any_of(inodes, [&](auto inode) { return theirs.contains(inode); })) {
      found.insert(pid);
    }
  }
  std::vector<pid_t> roots;
  for (const pid_t pid : found) {
    const auto parent = parent_of(pid);
    if (!parent || !found.contains(*parent)) roots.push_back(pid);
  }
  return roots;
}

std::vector<std::string> mapped_files(pid_t pid, Mapped which, std::uint64_t bytes) {
  std::map<std::string, bool> executable;
  std::istringstream lines{read_small_file(fmt::format("/proc/{}/maps", pid))};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos || line.ends_with(" (deleted)")) continue;
    const std::string path = line.substr(slash);
    if (is_of_the_system(path)) continue;
    const std::size_t rights = line.find(' ');
    executable[path] |= line.size() > rights + 3 && line[rights + 3] == 'x';
  }
  std::vector<std::string> found;
  for (const auto& [path, runs] : executable) {
    std::error_code gone;
    if (runs != (which == Mapped::kPrograms)) continue;
    if (fs::file_size(path, gone) >= bytes && !gone) found.push_back(path);
  }
  return found;
}

}  // namespace hearth::lab
