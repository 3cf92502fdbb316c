// SPDX-License-Identifier: Apache-2.0
#include "worker/free_cpu.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/files.h"

namespace hearth::worker {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

// The next number of a line; nothing at its end.
std::optional<std::int64_t> take_number(std::string_view& line) {
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == line.npos) return std::nullopt;
  line.remove_prefix(start);
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(stop - line.data()));
  return value;
}

Duration own_time() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + Duration{used.tv_nsec};
}

// The process's place below the mount of a controller ("" is version 2's); nothing when it has
// none.
std::optional<std::string> cgroup_path(std::string_view cgroups, std::string_view controller) {
  while (!cgroups.empty()) {
    std::string_view line = take_line(cgroups);
    line.remove_prefix(std::min(line.size(), line.find(':') + 1));
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string names = fmt::format(",{},", line.substr(0, colon));
    if (names.find(fmt::format(",{},", controller)) != names.npos) {
      return std::string{line.substr(colon + 1)};
    }
  }
  return std::nullopt;
}

std::int64_t number_in(const std::string& path) {
  const std::string text = read_small_file(path);
  std::string_view rest = text;
  return take_number(rest).value_or(-1);
}

std::optional<double> parse_old_quota(const std::string& folder) {
  const std::int64_t quota = number_in(folder + "/cpu.cfs_quota_us");
  const std::int64_t period = number_in(folder + "/cpu.cfs_period_us");
  if (quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<double>(quota) / static_cast<double>(period);
}

Duration used_in(const std::string& folder) {
  const std::string stat = read_small_file(folder + "/cpu.stat");
  const std::size_t at = stat.find("usage_usec ");
  if (at == stat.npos) return {};
  std::string_view rest = std::string_view{stat}.substr(at + 11);
  return microseconds{take_number(rest).value_or(0)};
}

}  // namespace

BusyTimes busy_times(std::string_view stat, const cpu_set_t& allowed) {
  // user, nice, system, idle, iowait, irq, softirq, steal; guests are in the first two as well.
  constexpr std::array<bool, 8> kBusy{true, true, true, false, false, true, true, true};
  constexpr std::size_t kNice = 1;
  const milliseconds tick{1000 / ::sysconf(_SC_CLK_TCK)};
  BusyTimes times;
  while (!stat.empty()) {
    std::string_view line = take_line(stat);
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    line.remove_prefix(3);
    const auto cpu = take_number(line);
    if (!cpu || *cpu >= CPU_SETSIZE || !CPU_ISSET(static_cast<std::size_t>(*cpu), &allowed)) {
      continue;
    }
    for (std::size_t i = 0; i < kBusy.size(); ++i) {
      const std::int64_t ticks = take_number(line).value_or(0);
      if (kBusy[i]) times.busy += ticks * tick;
      if (i == kNice) times.niced += ticks * tick;
    }
  }
  return times;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto quota = take_number(text);
  const auto period = take_number(text);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

CpuMeter::CpuMeter(Roots roots) : roots_{std::move(roots)} {
  CPU_ZERO(&allowed_);
  ::sched_getaffinity(0, sizeof allowed_, &allowed_);
}

int CpuMeter::runnable() const {
  constexpr std::string_view kName = "\nprocs_running ";
  const std::string stat = read_small_file(roots_.proc + "/stat");
  const std::size_t at = stat.find(kName);
  int count = 1;
  if (at != stat.npos) {
    std::from_chars(stat.data() + at + kName.size(), stat.data() + stat.size(), count);
  }
  return std::max(1, count);
}

CpuReading CpuMeter::read() {
  CpuReading reading;
  reading.at = Clock::real().now();
  const BusyTimes times = busy_times(read_small_file(roots_.proc + "/stat"), allowed_);
  reading.busy = times.busy;
  reading.niced = times.niced;
  reading.own = own_time();
  reading.threads = read_threads();
  reading.quota = read_quota();
  return reading;
}

void CpuMeter::watch(const std::vector<pid_t>& threads) {
  const bool same =
      threads.size() == watched_.size() &&
      std::ranges::all_of(threads, [this](pid_t id) { return watched_.contains(id); });
  if (same) return;
  (void)read_threads();
  watched_.clear();
  for (const pid_t id : threads) watched_[id] = times_of(id).value_or(CpuReading::Threads{});
}

std::optional<CpuReading::Threads> CpuMeter::times_of(pid_t thread) const {
  const std::string text =
      read_small_file(fmt::format("{}/self/task/{}/schedstat", roots_.proc, thread));
  std::string_view rest = text;
  const auto ran = take_number(rest);
  const auto waited = take_number(rest);
  if (!ran || !waited) return std::nullopt;
  return CpuReading::Threads{Duration{*ran}, Duration{*waited}};
}

std::optional<CpuReading::Threads> CpuMeter::read_threads() {
  for (auto& [id, last] : watched_) {
    const auto now = times_of(id);
    if (!now) return std::nullopt;
    sum_.ran += now->ran - last.ran;
    sum_.waited += now->waited - last.waited;
    last = *now;
  }
  return sum_;
}

// The tightest limit from the process's own cgroup up to the root that it can see.
std::optional<CpuReading::Quota> CpuMeter::read_quota() {
  const std::string cgroups = read_small_file(roots_.proc + "/self/cgroup");
  std::optional<CpuReading::Quota> tightest;
  const auto look = [&](const std::string& folder, std::optional<double> cpus) {
    if (cpus && (!tightest || *cpus < tightest->cpus)) tightest = {*cpus, used_in(folder)};
  };
  const auto climb = [&](std::string path, const std::string& mount, const auto& limit_of) {
    for (;;) {
      const std::string folder = mount + path;
      look(folder, limit_of(folder));
      if (path.empty() || path == "/") return;
      path.resize(path.rfind('/'));
    }
  };
  if (const auto path = cgroup_path(cgroups, "")) {
    climb(*path, roots_.cgroup, [](const std::string& folder) {
      return parse_cpu_max(read_small_file(folder + "/cpu.max"));
    });
  }
  if (const auto path = cgroup_path(cgroups, "cpu")) {
    climb(*path, roots_.cgroup + "/cpu", parse_old_quota);
  }
  return tightest;
}

}  // namespace hearth::worker
