// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/processes.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/files.h"
#include "base/text.h"

namespace hearth::lab {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string proc(pid_t pid, std::string_view name) { return fmt::format("/proc/{}/{}", pid, name); }

std::uint64_t number(std::string_view text) {
  text = trimmed(text, " \t");
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Of "name:  12 kB" lines; nullopt: no such line.
std::optional<std::uint64_t> field(std::string_view text, std::string_view name) {
  const std::string key = fmt::format("\n{}:", name);
  std::size_t at = text.starts_with(std::string_view{key}.substr(1)) ? 0 : text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  at = text.find(':', at) + 1;
  return number(text.substr(at, text.find('\n', at) - at));
}

// What follows the name in parentheses, which may hold anything: state, parent, ...
struct Stat {
  char state = 'X';
  std::vector<std::uint64_t> fields;  // fields[0] is the parent

  std::uint64_t at(std::size_t index) const { return index < fields.size() ? fields[index] : 0; }
};
constexpr std::size_t kParent = 0, kMinorFaults = 6, kMajorFaults = 8, kUser = 10, kSystem = 11,
                      kStart = 18;

std::optional<Stat> stat_of(pid_t pid) {
  const std::string text = read_small_file(proc(pid, "stat"));
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos || end + 2 >= text.size()) return std::nullopt;
  Stat stat;
  stat.state = text[end + 2];
  std::string_view rest = std::string_view{text}.substr(end + 3);
  while (!(rest = trimmed(rest, " \n")).empty()) {
    const std::size_t length = std::min(rest.find(' '), rest.size());
    stat.fields.push_back(number(rest.substr(0, length)));
    rest.remove_prefix(length);
  }
  if (stat.state == 'Z' || stat.state == 'X') return std::nullopt;
  return stat;
}

// Threads that have ended included. The clock's number is the kernel's own way to name it.
double processor_seconds(pid_t pid, const Stat& stat) {
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3U) | 2U);
  timespec time{};
  if (::clock_gettime(clock, &time) == 0) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }
  const auto ticks = static_cast<double>(stat.at(kUser) + stat.at(kSystem));
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator{"/proc", ignored}) {
    const std::string name = entry.path().filename();
    if (name.front() >= '1' && name.front() <= '9') {
      found.push_back(static_cast<pid_t>(number(name)));
    }
  }
  return found;
}

bool is_gone(pid_t pid, const std::string& start_time) { return start_time_of(pid) != start_time; }

bool wait_until_gone(pid_t pid, const std::string& start_time, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!is_gone(pid, start_time)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

}  // namespace

std::optional<ProcessFigures> figures_of(pid_t pid) {
  const std::optional<Stat> stat = stat_of(pid);
  if (!stat) return std::nullopt;
  const std::string status = read_small_file(proc(pid, "status"));
  const auto kib = [&](std::string_view name) {
    return Bytes{field(status, name).value_or(0) << 10U};
  };
  ProcessFigures figures;
  figures.start_ticks = stat->at(kStart);
  figures.parent = static_cast<pid_t>(stat->at(kParent));
  figures.resident = kib("VmRSS");
  figures.anonymous = kib("RssAnon");
  figures.file_backed = kib("RssFile") + kib("RssShmem");
  figures.locked = kib("VmLck");
  figures.peak = kib("VmHWM");
  if (const auto read = field(read_small_file(proc(pid, "io")), "read_bytes")) {
    figures.bytes_read = Bytes{*read};
  }
  figures.major_faults = static_cast<std::int64_t>(stat->at(kMajorFaults));
  figures.minor_faults = static_cast<std::int64_t>(stat->at(kMinorFaults));
  figures.processor_s = processor_seconds(pid, *stat);
  return figures;
}

Bytes resident_of(pid_t pid) {
  const std::string text = read_small_file(proc(pid, "statm"));
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return {};
  std::string_view pages = std::string_view{text}.substr(blank + 1);
  pages = pages.substr(0, pages.find(' '));
  return Bytes{number(pages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

std::vector<pid_t> process_tree(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  bool is_there = false;
  for (const pid_t pid : all_processes()) {
    const std::optional<Stat> stat = stat_of(pid);
    if (!stat) continue;
    is_there = is_there || pid == root;
    children.emplace(static_cast<pid_t>(stat->at(kParent)), pid);
  }
  if (!is_there) return {};
  std::vector<pid_t> tree{root};
  for (std::size_t next = 0; next < tree.size(); ++next) {
    const auto [begin, end] = children.equal_range(tree[next]);
    for (auto child = begin; child != end; ++child) tree.push_back(child->second);
  }
  return tree;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& thread : fs::directory_iterator{proc(pid, "task"), ignored}) {
    const std::string text = read_small_file(thread.path().string() + "/children");
    std::string_view rest = text;
    while (!(rest = trimmed(rest, " \n")).empty()) {
      const std::size_t length = std::min(rest.find(' '), rest.size());
      found.push_back(static_cast<pid_t>(number(rest.substr(0, length))));
      rest.remove_prefix(length);
    }
  }
  return found;
}

std::string start_time_of(pid_t pid) {
  const std::optional<Stat> stat = stat_of(pid);
  return stat ? fmt::format("{}", stat->at(kStart)) : std::string{};
}

std::optional<double> age_of(pid_t pid) {
  const std::optional<Stat> stat = stat_of(pid);
  timespec now{};
  if (!stat || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return std::nullopt;
  const double started =
      static_cast<double>(stat->at(kStart)) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return std::max(
      0.0, static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 - started);
}

bool maps_file(pid_t pid, const std::string& path) {
  const std::string maps = read_small_file(proc(pid, "maps"));
  return maps.find(" " + path + "\n") != std::string::npos;
}

std::vector<std::string> who_maps(const std::string& path) {
  std::vector<std::string> found;
  for (const pid_t pid : all_processes()) {
    if (!maps_file(pid, path)) continue;
    const std::string name = read_small_file(proc(pid, "comm"));
    found.push_back(fmt::format("{} ({})", pid, trimmed(name, "\n")));
  }
  return found;
}

bool end_process(pid_t pid, const std::string& start_time, std::chrono::milliseconds grace) {
  if (pid <= 1 || start_time.empty() || is_gone(pid, start_time)) return false;
  const pid_t whom = ::getpgid(pid) == pid ? -pid : pid;
  if (::kill(whom, SIGTERM) != 0) return false;
  // What is stopped takes no signal but these two.
  (void)::kill(whom, SIGCONT);
  const bool is_ended = wait_until_gone(pid, start_time, grace);
  // Children that outlive their parent are still in its group, whose number is not given away
  // before they are gone.
  if (whom < 0 || !is_ended) (void)::kill(whom, SIGKILL);
  return is_ended || wait_until_gone(pid, start_time, 5s);
}

}  // namespace hearth::lab
