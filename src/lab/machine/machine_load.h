// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hearth::lab {

// What the whole machine has done since it was started; two of them tell what went on between.
struct MachineLoad {
  std::chrono::steady_clock::time_point at{};
  double busy_s = 0;                        // of all processors together
  double own_s = 0;                         // of this process
  std::map<std::string, double> stall_s{};  // "cpu", "memory", "io": PSI some
  Bytes swapped{};                          // in and out
  std::optional<double> joules{};           // of the processor packages; wraps around

  static MachineLoad now();
};

// Between two of them.
struct LoadChange {
  double seconds = 0;
  double busy_s = 0;
  double own_s = 0;
  std::map<std::string, double> stall{};  // share of the time
  Bytes swapped{};
  std::optional<double> joules{};  // unset also where the counter went back
};
LoadChange change(const MachineLoad& before, const MachineLoad& after);

// Waits until is_quiet(), looking again and again for 0.3 s. False when `patience` has passed.
bool wait_until_quiet(std::chrono::milliseconds patience, const std::function<bool()>& stop = {});

// ---- parts, pure ----

// Others used less than 0.15 cores, and of the time something waited for a processor less than 5 %,
// for memory and for devices less than 10 %.
bool is_quiet(const LoadChange& change);

// Ticks that processors were busy, in /proc/stat's text.
std::uint64_t busy_ticks_in(std::string_view stat);

// Seconds of the "some" line of a file in /proc/pressure; nullopt: no such line.
std::optional<double> stalled_in(std::string_view pressure);

}  // namespace hearth::lab
