// SPDX-License-Identifier: Apache-2.0
#include "front/memory/machine_memory.h"

#include <gtest/gtest.h>

#include "front/memory/figures.h"
#include "front/memory/testing/fake_system.h"

namespace hearth::front {
namespace {

using namespace literals;
using testing::FakeSystem;

constexpr std::string_view kMeminfo =
    "MemTotal:        8192 kB\nMemFree:         1024 kB\nMemAvailable:    4096 kB\n"
    "Buffers:          100 kB\nCached:          3072 kB\nSwapCached:        50 kB\n"
    "SwapTotal:       2048 kB\nSwapFree:        1024 kB\nShmem:           1024 kB\n";

TEST(Figures, AreFoundByTheirWholeName) {
  EXPECT_EQ(figure_in("total_file 1\nfile 2\n", "file"), 2U);
  EXPECT_EQ(figure_in("fileback 1\nfile\n", "file"), std::nullopt);
  EXPECT_EQ(figure_in("MemFree:\t 12 kB", "MemFree"), 12U);
  EXPECT_EQ(figure_in("", "file"), std::nullopt);
  EXPECT_EQ(number_at("max"), std::nullopt);
  EXPECT_EQ(number_at("-1"), std::nullopt);
  EXPECT_EQ(number_at("  7\n"), 7U);
  EXPECT_EQ(number_at("99999999999999999999999"), ~std::uint64_t{0});
}

TEST(MachineMemory, IsWhatTheKernelTells) {
  const MachineMemory memory = memory_in(kMeminfo);
  EXPECT_EQ(memory.total, 8_MiB);
  EXPECT_EQ(memory.free, 1_MiB);
  EXPECT_EQ(memory.available, 4_MiB);
  EXPECT_EQ(memory.of_files, 2_MiB);
  EXPECT_EQ(memory.swap_used, 1_MiB);
  EXPECT_EQ(memory.room(), 4_MiB);
}

TEST(MachineMemory, WhatIsOddIsAbsent) {
  const MachineMemory memory =
      memory_in("MemTotal: lots kB\nMemAvailable:\nMemFree: 18446744073709551615 kB\nCached\n");
  EXPECT_EQ(memory.total, std::nullopt);
  EXPECT_EQ(memory.available, std::nullopt);
  EXPECT_EQ(memory.free, std::nullopt);
  EXPECT_EQ(memory.of_files, std::nullopt);
  EXPECT_EQ(memory.swap_used, std::nullopt);
  EXPECT_EQ(memory.room(), std::nullopt);
}

struct PressureCase {
  const char* name;
  std::string_view text;
  std::optional<double> some;
  std::optional<double> full;
};
void PrintTo(const PressureCase& c, std::ostream* out) { *out << c.name; }
class PressureText : public ::testing::TestWithParam<PressureCase> {};

TEST_P(PressureText, IsReadAsFarAsItTells) {
  const PressureFigures figures = pressure_in(GetParam().text);
  EXPECT_EQ(figures.some_avg10, GetParam().some);
  EXPECT_EQ(figures.full_avg10, GetParam().full);
}

INSTANTIATE_TEST_SUITE_P(
    Memory, PressureText,
    ::testing::Values(PressureCase{"Both",
                                   "some avg10=1.50 avg60=9 total=1\nfull avg10=0.25 avg60=9\n",
                                   1.5, 0.25},
                      PressureCase{"SomeAlone", "some avg10=100.00 avg60=0.00\n", 100.0, {}},
                      PressureCase{"Nothing", "", {}, {}},
                      PressureCase{"NoNumber", "some avg10=x\nfull avg10=\n", {}, {}},
                      PressureCase{"NoShare", "some avg10=nan\nfull avg10=101\n", {}, {}},
                      PressureCase{"Negative", "some avg10=-1\n", {}, {}},
                      PressureCase{"OtherOrder", "full avg10=2\nsome avg60=1 avg10=3\n", 3.0, 2.0}),
    [](const auto& test) { return test.param.name; });

TEST(MachineMemory, IsReadBelowARoot) {
  const FakeSystem system;
  system.put("/proc/meminfo", kMeminfo);
  system.put("/proc/pressure/memory", "some avg10=2.00\nfull avg10=1.00\n");
  system.put("/proc/pressure/cpu", "some avg10=30.00\n");
  system.put("/proc/self/cgroup", "0::/hearth\n");
  system.put("/proc/self/mountinfo", "1 2 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  system.put("/sys/fs/cgroup/hearth/memory.max", "3145728");
  system.put("/sys/fs/cgroup/hearth/memory.current", "1048576");
  system.put("/sys/fs/cgroup/hearth/memory.pressure", "some avg10=5.00\nfull avg10=0.50\n");
  ManualClock clock;
  MachineMemoryReader reader{system.root(), clock};
  const MachineMemory memory = reader.read();
  EXPECT_EQ(memory.total, 8_MiB);
  ASSERT_TRUE(memory.cgroup);
  EXPECT_EQ(memory.cgroup->path, "/sys/fs/cgroup/hearth");
  EXPECT_EQ(memory.room(), 2_MiB);
  EXPECT_EQ(memory.memory_some_avg10(), 5.0);
  EXPECT_EQ(memory.memory_full_avg10(), 1.0);
  EXPECT_EQ(memory.cpu_some_avg10, 30.0);
  EXPECT_EQ(memory.at, clock.now());

  system.put("/sys/fs/cgroup/hearth/memory.max", "max");
  clock.advance(std::chrono::seconds{1});
  const MachineMemory later = reader.read();
  EXPECT_FALSE(later.cgroup);
  EXPECT_EQ(later.room(), 4_MiB);
  EXPECT_EQ(later.at, clock.now());
}

TEST(MachineMemory, OfNothingIsAbsent) {
  const FakeSystem system;
  const MachineMemory memory = read_machine_memory(system.root(), Clock::real());
  EXPECT_FALSE(memory.total || memory.available || memory.cgroup || memory.room());
  EXPECT_EQ(memory.memory_some_avg10(), 0);
}

TEST(MachineMemory, OfThisMachineMakesSense) {
  const MachineMemory memory = read_machine_memory("", Clock::real());
  ASSERT_TRUE(memory.total && memory.available && memory.room());
  EXPECT_LE(*memory.available, *memory.total);
  EXPECT_LE(*memory.room(), *memory.available);
}

}  // namespace
}  // namespace hearth::front
