// SPDX-License-Identifier: Apache-2.0
#include "front/memory/machine_memory.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/files.h"
#include "front/memory/figures.h"

namespace hearth::front {
namespace {

std::optional<Bytes> kib_in(std::string_view meminfo, std::string_view key) {
  const auto kib = figure_in(meminfo, key);
  constexpr std::uint64_t kMost = ~std::uint64_t{0} >> 10U;
  if (!kib || *kib > kMost) return std::nullopt;
  return Bytes{*kib << 10U};
}

// What follows `key` in the line that begins with `word`.
std::optional<double> average_in(std::string_view text, std::string_view word,
                                 std::string_view key) {
  for (const std::string_view line : pieces_of(text, '\n')) {
    const std::size_t at = line.find(key);
    if (pieces_of(line, ' ').front() != word || at == line.npos) continue;
    const std::string_view number = line.substr(at + key.size());
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    // Neither "nan" nor "inf" is a share.
    if (error != std::errc{} || !(value >= 0 && value <= 100)) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

}  // namespace

PressureFigures pressure_in(std::string_view text) {
  return {average_in(text, "some", " avg10="), average_in(text, "full", " avg10="),
          average_in(text, "some", " avg300=")};
}

double MachineMemory::memory_some_avg10() const {
  const double inside = cgroup ? cgroup->some_avg10.value_or(0) : 0;
  return std::max(memory_pressure.some_avg10.value_or(0), inside);
}

double MachineMemory::memory_full_avg10() const {
  const double inside = cgroup ? cgroup->full_avg10.value_or(0) : 0;
  return std::max(memory_pressure.full_avg10.value_or(0), inside);
}

std::optional<Bytes> MachineMemory::room() const {
  if (!cgroup) return available;
  return available ? std::min(*available, cgroup->room()) : cgroup->room();
}

MachineMemory memory_in(std::string_view meminfo) {
  MachineMemory memory;
  memory.total = kib_in(meminfo, "MemTotal");
  memory.free = kib_in(meminfo, "MemFree");
  memory.available = kib_in(meminfo, "MemAvailable");
  if (const auto cached = kib_in(meminfo, "Cached")) {
    memory.of_files = *cached - kib_in(meminfo, "Shmem").value_or(Bytes{});
  }
  const auto swap = kib_in(meminfo, "SwapTotal");
  if (swap) memory.swap_used = *swap - kib_in(meminfo, "SwapFree").value_or(*swap);
  return memory;
}

MachineMemoryReader::MachineMemoryReader(std::string root, const Clock& clock)
    : root_{std::move(root)}, clock_{clock} {}

MachineMemory MachineMemoryReader::read() {
  MachineMemory memory = memory_in(read_small_file(root_ + "/proc/meminfo"));
  const std::string own = read_small_file(root_ + "/proc/self/cgroup");
  memory.cgroup = tightest_cgroup(root_, places_.find(root_, own));
  memory.memory_pressure = pressure_in(read_small_file(root_ + "/proc/pressure/memory"));
  memory.cpu_some_avg10 = pressure_in(read_small_file(root_ + "/proc/pressure/cpu")).some_avg10;
  memory.at = clock_.now();
  return memory;
}

MachineMemory read_machine_memory(const std::string& root, const Clock& clock) {
  return MachineMemoryReader{root, clock}.read();
}

}  // namespace hearth::front
