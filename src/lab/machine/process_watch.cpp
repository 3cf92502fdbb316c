// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/process_watch.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace hearth::lab {
namespace {

using namespace std::chrono_literals;

constexpr auto kPeriod = 20ms;
constexpr int kFullLook = 5;  // periods between two looks at everything

std::uint64_t ticks_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto hertz = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * hertz +
         static_cast<std::uint64_t>(now.tv_nsec) * hertz / 1'000'000'000;
}

void add(std::optional<std::int64_t>& sum, std::int64_t value) { sum = sum.value_or(0) + value; }

}  // namespace

std::optional<Bytes> bytes_read_by(const std::map<pid_t, SeenProcess>& seen) {
  std::map<pid_t, std::uint64_t> read;  // of each, less what it has from those it reaped
  for (const auto& [pid, one] : seen) {
    if (!one.last.bytes_read) return std::nullopt;
    const std::uint64_t first = one.first.bytes_read.value_or(Bytes{}).count();
    read[pid] = one.last.bytes_read->count() - std::min(first, one.last.bytes_read->count());
  }
  for (const auto& [pid, one] : seen) {
    const auto parent = read.find(one.last.parent);
    const std::uint64_t whole_life = one.last.bytes_read->count();
    // A parent that never waited for it has nothing of it.
    if (one.is_gone && parent != read.end() && parent->second >= whole_life) {
      parent->second -= whole_life;
    }
  }
  Bytes sum;
  for (const auto& [pid, bytes] : read) sum += Bytes{bytes};
  return sum;
}

ProcessWatch::ProcessWatch(Machine::Processes processes)
    : processes_{std::move(processes)}, oldest_ticks_{ticks_since_boot()} {
  for (const pid_t pid : processes_()) {
    const auto figures = figures_of(pid);
    if (!figures) continue;
    seen_[pid] = {.was_there = true, .is_gone = false, .first = *figures, .last = *figures};
  }
  add_peak();
  before_ = MachineLoad::now();
  sampler_ = std::jthread{[this](std::stop_token stop) { sample(std::move(stop)); }};
}

std::vector<pid_t> ProcessWatch::known() const {
  std::vector<pid_t> pids;
  for (const auto& [pid, figures] : seen_) pids.push_back(pid);
  return pids;
}

void ProcessWatch::sample(std::stop_token stop) {
  std::unique_lock lock{mutex_};
  for (int round = 1; !ended_.wait_for(lock, stop, kPeriod, [&] { return stop.stop_requested(); });
       ++round) {
    if (round % kFullLook == 0) {
      std::vector<pid_t> pids = known();
      for (std::size_t next = 0; next < pids.size(); ++next) {
        for (const pid_t child : children_of(pids[next])) {
          if (std::ranges::find(pids, child) == pids.end()) pids.push_back(child);
        }
      }
      look(pids);
    }
    add_peak();
  }
}

void ProcessWatch::look(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes) {
    const auto figures = figures_of(pid);
    if (!figures) continue;
    const auto known = seen_.find(pid);
    if (known == seen_.end()) {
      // One that others found too late began before the trial did: what it has done is not known.
      const bool is_new = figures->start_ticks >= oldest_ticks_;
      seen_[pid] = {.was_there = false,
                    .is_gone = false,
                    .first = is_new ? ProcessFigures{} : *figures,
                    .last = *figures};
    } else if (known->second.last.start_ticks == figures->start_ticks) {
      known->second.last = *figures;
    }
  }
}

void ProcessWatch::add_peak() {
  Bytes now;
  for (const auto& [pid, figures] : seen_) now += resident_of(pid);
  peak_ = std::max(peak_, now);
}

Effects ProcessWatch::read() {
  if (result_) return *result_;
  const MachineLoad after = MachineLoad::now();
  sampler_.request_stop();
  sampler_.join();
  for (auto& [pid, seen] : seen_) {
    const auto figures = figures_of(pid);
    seen.is_gone = !figures || figures->start_ticks != seen.last.start_ticks;
  }
  look(known());
  look(processes_());
  add_peak();
  Effects effects = sum();
  const LoadChange load = change(before_, after);
  const double others = load.busy_s - load.own_s - effects.processor_s.value_or(0);
  effects.outside_cores = std::max(0.0, others) / load.seconds;
  effects.stall = load.stall;
  effects.swapped = load.swapped;
  effects.joules = load.joules;
  result_ = effects;
  return effects;
}

Effects ProcessWatch::sum() const {
  Effects effects;
  if (seen_.empty()) return effects;
  double processor = 0;
  for (const auto& [pid, seen] : seen_) {
    add(effects.major_faults, seen.last.major_faults - seen.first.major_faults);
    add(effects.minor_faults, seen.last.minor_faults - seen.first.minor_faults);
    processor += seen.last.processor_s - seen.first.processor_s;
  }
  effects.bytes_read = bytes_read_by(seen_);
  // Of what came meanwhile the kernel knows the peak, however short it was.
  Bytes largest;
  for (const auto& [pid, seen] : seen_)
    largest += seen.was_there ? seen.last.resident : seen.last.peak;
  effects.processor_s = processor;
  effects.peak_resident = std::max(peak_, largest);
  return effects;
}

}  // namespace hearth::lab
