// SPDX-License-Identifier: Apache-2.0
#include "worker/free_cpu.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace hearth::worker {
namespace {

using std::chrono::milliseconds;

cpu_set_t cpus(std::initializer_list<std::size_t> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t cpu : numbers) CPU_SET(cpu, &set);
  return set;
}

constexpr const char* kStat =
    "cpu  400 40 200 9000 70 8 16 24 0 0\n"
    "cpu0 100 10 50 5000 40 1 2 3 0 0\n"
    "cpu1 300 30 150 4000 30 7 14 21 5 0\n"
    "intr 12345 0 0\n"
    "ctxt 99\n";

struct BusyCase {
  const char* name;
  const char* stat;
  cpu_set_t allowed;
  milliseconds busy, niced;
};
class Busy : public testing::TestWithParam<BusyCase> {};
TEST_P(Busy, CountsWorkAndStolenTime) {
  const BusyTimes times = busy_times(GetParam().stat, GetParam().allowed);
  EXPECT_EQ(times.busy, GetParam().busy);
  EXPECT_EQ(times.niced, GetParam().niced);
}
INSTANTIATE_TEST_SUITE_P(
    Stat, Busy,
    testing::Values(BusyCase{"One", kStat, cpus({0}), milliseconds{1660}, milliseconds{100}},
                    BusyCase{"Both", kStat, cpus({0, 1}), milliseconds{6880}, milliseconds{400}},
                    BusyCase{"NoneOfThem", kStat, cpus({5}), {}, {}},
                    BusyCase{"OldKernel", "cpu0 100 10 50 5000\n", cpus({0}), milliseconds{1600},
                             milliseconds{100}},
                    BusyCase{"Nonsense", "cpu\ncpux 1 2\ncpu0\n\n", cpus({0}), {}, {}},
                    BusyCase{"Empty", "", cpus({0}), {}, {}}),
    [](const auto& test) { return test.param.name; });

struct MaxCase {
  const char* name;
  const char* text;
  std::optional<double> cpus;
};
class CpuMax : public testing::TestWithParam<MaxCase> {};
TEST_P(CpuMax, IsReadAsCpus) { EXPECT_EQ(parse_cpu_max(GetParam().text), GetParam().cpus); }
INSTANTIATE_TEST_SUITE_P(Cgroup, CpuMax,
                         testing::Values(MaxCase{"None", "max 100000\n", {}},
                                         MaxCase{"OneAndAHalf", "150000 100000\n", 1.5},
                                         MaxCase{"Half", "5000 10000\n", 0.5},
                                         MaxCase{"Empty", "", {}}, MaxCase{"Zero", "0 0\n", {}}),
                         [](const auto& test) { return test.param.name; });

// Files as the kernel has them, under a folder of the test's own.
class Meter : public testing::Test {
 protected:
  Meter() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path{testing::TempDir()} /
            ("cpu-" + std::to_string(::getpid()) + "-" + test->name());
    write("proc/self/cgroup", "0::/box/hearth\n");
    write("proc/stat", "cpu0 0 0 0 0\n");
  }
  ~Meter() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream{root_ / name} << text;
  }
  CpuMeter meter() { return CpuMeter{{root_ / "proc", root_ / "cgroup"}}; }
  std::filesystem::path root_;
};

TEST_F(Meter, TakesTheTightestQuotaUpToTheRoot) {
  EXPECT_FALSE(meter().read().quota);
  write("cgroup/box/hearth/cpu.max", "max 100000\n");
  write("cgroup/box/cpu.max", "200000 100000\n");
  write("cgroup/box/cpu.stat", "usage_usec 2500\nuser_usec 2000\n");
  write("cgroup/cpu.max", "400000 100000\n");
  const CpuReading reading = meter().read();
  ASSERT_TRUE(reading.quota);
  EXPECT_EQ(reading.quota->cpus, 2.0);
  EXPECT_EQ(reading.quota->used, std::chrono::microseconds{2500});
}

TEST_F(Meter, CountsWhoWantsACpuNow) {
  EXPECT_EQ(meter().runnable(), 1);
  write("proc/stat", "cpu0 0 0 0 0\nprocesses 9\nprocs_running 4\nprocs_blocked 0\n");
  EXPECT_EQ(meter().runnable(), 4);
  write("proc/stat", "cpu0 0 0 0 0\nprocs_running x\n");
  EXPECT_EQ(meter().runnable(), 1);
}

TEST_F(Meter, KnowsTheOldCgroups) {
  write("proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/a\n0::/\n");
  write("cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
  write("cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  write("cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  const CpuReading reading = meter().read();
  ASSERT_TRUE(reading.quota);
  EXPECT_EQ(reading.quota->cpus, 0.5);
}

TEST_F(Meter, CountsThreadsFromWhenTheyAreWatched) {
  write("proc/self/task/7/schedstat", "1000 100 1\n");
  write("proc/self/task/8/schedstat", "5000 500 1\n");
  CpuMeter meter = this->meter();
  meter.watch({7});
  write("proc/self/task/7/schedstat", "1500 130 1\n");
  EXPECT_EQ(meter.read().threads->ran, Duration{500});
  meter.watch({8, 7});
  write("proc/self/task/7/schedstat", "1600 140 1\n");
  write("proc/self/task/8/schedstat", "5010 505 1\n");
  const auto threads = meter.read().threads;
  EXPECT_EQ(threads->ran, Duration{610});
  EXPECT_EQ(threads->waited, Duration{45});
  std::filesystem::remove(root_ / "proc/self/task/8/schedstat");
  EXPECT_FALSE(meter.read().threads);
}

TEST(RealMeter, ReadsThisMachine) {
  CpuMeter meter;
  meter.watch({::gettid()});
  const CpuReading first = meter.read();
  volatile std::uint64_t work = 0;
  while (meter.read().own - first.own < milliseconds{20}) work = work + 1;
  const CpuReading last = meter.read();
  EXPECT_GT(last.at, first.at);
  EXPECT_GE(last.own - first.own, milliseconds{20});
  EXPECT_GT(last.busy.count(), 0);
  if (!last.threads) GTEST_SKIP() << "this kernel keeps no schedstat";
  EXPECT_GT(last.threads->ran.count(), 0);
}

}  // namespace
}  // namespace hearth::worker
