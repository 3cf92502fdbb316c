// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/machine_load.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "base/files.h"
#include "base/text.h"

namespace hearth::lab {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr double kQuietCores = 0.15;
constexpr std::array<std::pair<const char*, double>, 3> kQuietStalls{
    {{"cpu", 0.05}, {"memory", 0.1}, {"io", 0.1}}};
constexpr auto kWindow = 300ms;

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double own_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::uint64_t line_number(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  return at == std::string_view::npos ? 0 : number(text.substr(at + name.size()));
}

Bytes swapped_so_far() {
  const std::string text = read_small_file("/proc/vmstat");
  const std::uint64_t pages = line_number(text, "pswpin ") + line_number(text, "pswpout ");
  return Bytes{pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

// Packages only: what lies within them is in their figure already.
std::optional<double> joules_so_far() {
  std::optional<double> sum;
  std::error_code ignored;
  for (const auto& zone : fs::directory_iterator{"/sys/class/powercap", ignored}) {
    const std::string name = zone.path().filename();
    if (!name.starts_with("intel-rapl:") || std::ranges::count(name, ':') != 1) continue;
    const std::string text = read_small_file(zone.path().string() + "/energy_uj");
    if (!text.empty()) sum = sum.value_or(0) + static_cast<double>(number(text)) / 1e6;
  }
  return sum;
}

bool is_quiet_now() {
  const MachineLoad before = MachineLoad::now();
  std::this_thread::sleep_for(kWindow);
  return is_quiet(change(before, MachineLoad::now()));
}

}  // namespace

bool is_quiet(const LoadChange& found) {
  const double others = (found.busy_s - found.own_s) / found.seconds;
  return others <= kQuietCores && std::ranges::all_of(kQuietStalls, [&](const auto& most) {
           const auto stall = found.stall.find(most.first);
           return stall == found.stall.end() || stall->second <= most.second;
         });
}

std::uint64_t busy_ticks_in(std::string_view stat) {
  // user nice system idle iowait irq softirq steal
  constexpr std::array<bool, 8> kBusy{true, true, true, false, false, true, true, true};
  std::string_view line = stat.substr(0, stat.find('\n'));
  if (!line.starts_with("cpu ")) return 0;
  line.remove_prefix(4);
  std::uint64_t sum = 0;
  for (const bool is_busy : kBusy) {
    line = trimmed(line, " ");
    const std::size_t length = std::min(line.find(' '), line.size());
    if (is_busy) sum += number(line.substr(0, length));
    line.remove_prefix(length);
  }
  return sum;
}

std::optional<double> stalled_in(std::string_view pressure) {
  if (!pressure.starts_with("some ")) return std::nullopt;
  const std::string_view line = pressure.substr(0, pressure.find('\n'));
  const std::size_t at = line.find("total=");
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<double>(number(line.substr(at + 6))) / 1e6;
}

MachineLoad MachineLoad::now() {
  MachineLoad load;
  load.at = std::chrono::steady_clock::now();
  load.busy_s = static_cast<double>(busy_ticks_in(read_small_file("/proc/stat"))) /
                static_cast<double>(::sysconf(_SC_CLK_TCK));
  load.own_s = own_seconds();
  for (const char* kind : {"cpu", "memory", "io"}) {
    const auto stalled = stalled_in(read_small_file(std::string{"/proc/pressure/"} + kind));
    if (stalled) load.stall_s[kind] = *stalled;
  }
  load.swapped = swapped_so_far();
  load.joules = joules_so_far();
  return load;
}

LoadChange change(const MachineLoad& before, const MachineLoad& after) {
  LoadChange change;
  change.seconds = std::max(1e-6, std::chrono::duration<double>(after.at - before.at).count());
  change.busy_s = std::max(0.0, after.busy_s - before.busy_s);
  change.own_s = std::max(0.0, after.own_s - before.own_s);
  for (const auto& [kind, seconds] : after.stall_s) {
    const auto earlier = before.stall_s.find(kind);
    if (earlier == before.stall_s.end()) continue;
    change.stall[kind] = std::clamp((seconds - earlier->second) / change.seconds, 0.0, 1.0);
  }
  change.swapped = after.swapped - before.swapped;
  if (before.joules && after.joules && *after.joules >= *before.joules) {
    change.joules = *after.joules - *before.joules;
  }
  return change;
}

bool wait_until_quiet(std::chrono::milliseconds patience, const std::function<bool()>& stop) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  do {
    if (stop && stop()) return false;
    if (is_quiet_now()) return true;
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

}  // namespace hearth::lab
