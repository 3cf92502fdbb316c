// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "lab/machine/machine_load.h"
#include "lab/machine/process_watch.h"

namespace hearth::lab {
namespace {

using namespace literals;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Forks a child that forks another; both wait for their input to end. Gone with this object.
class Family {
 public:
  Family() {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) return;
    parent_ = ::fork();
    if (parent_ == 0) {
      ::setpgid(0, 0);
      if (::fork() == 0) {
        (void)!::write(ready[1], "x", 1);
        ::pause();
      }
      ::pause();
      ::_exit(0);
    }
    const Fd in{ready[0]}, out{ready[1]};
    char byte = 0;
    (void)!::read(in.get(), &byte, 1);
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family() {
    ::kill(-parent_, SIGKILL);
    ::waitpid(parent_, nullptr, 0);
  }
  pid_t parent() const { return parent_; }

 private:
  pid_t parent_ = 0;
};

TEST(Processes, OfOurselves) {
  const auto figures = figures_of(::getpid());
  ASSERT_TRUE(figures);
  EXPECT_GT(figures->resident, 1_MiB);
  EXPECT_GE(figures->peak, figures->resident - 4_MiB);
  EXPECT_GT(figures->minor_faults, 10);
  EXPECT_GT(figures->processor_s, 0);
  EXPECT_EQ(start_time_of(::getpid()), std::to_string(figures->start_ticks));
  EXPECT_LT(*age_of(::getpid()), 3600);
  EXPECT_GT(resident_of(::getpid()), 1_MiB);
}

TEST(Processes, ThatAreNotThere) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(figures_of(child), std::nullopt);
  EXPECT_EQ(start_time_of(child), "");
  EXPECT_THAT(process_tree(child), IsEmpty());
  EXPECT_FALSE(end_process(child, "123", 1ms));
}

TEST(Processes, MakeATree) {
  const Family family;
  const std::vector<pid_t> tree = process_tree(family.parent());
  ASSERT_THAT(tree, SizeIs(2));
  EXPECT_EQ(tree[0], family.parent());
  EXPECT_THAT(children_of(family.parent()), ElementsAre(tree[1]));
}

TEST(Processes, EndWithTheirGroup) {
  const Family family;
  const std::vector<pid_t> tree = process_tree(family.parent());
  ASSERT_THAT(tree, SizeIs(2));
  const std::string child_time = start_time_of(tree[1]);
  EXPECT_FALSE(end_process(family.parent(), "1", 1ms)) << "somebody else's start time";
  EXPECT_TRUE(end_process(family.parent(), start_time_of(family.parent()), 2s));
  for (int n = 0; n < 500 && start_time_of(tree[1]) == child_time; ++n) {
    std::this_thread::yield();
    (void)process_tree(1);
  }
  EXPECT_NE(start_time_of(tree[1]), child_time);
}

// ---- watching ----

TEST(ProcessWatch, SeesWhatAProcessDoesAndHowMuchItTakesAtMost) {
  ProcessWatch watch{[] { return std::vector<pid_t>{::getpid()}; }};
  const Bytes before = resident_of(::getpid());
  constexpr std::size_t kSize = 64 << 20;
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto until = std::chrono::steady_clock::now() + 100ms;
  while (std::chrono::steady_clock::now() < until) {
  }
  ::munmap(memory, kSize);
  const Effects effects = watch.read();
  EXPECT_GE(*effects.peak_resident, before + 50_MiB);
  EXPECT_GT(*effects.processor_s, 0.01);
  EXPECT_GE(*effects.major_faults, 0);
  EXPECT_EQ(watch.read().processor_s, effects.processor_s) << "the same from then on";
}

TEST(ProcessWatch, SeesProcessesThatComeMeanwhile) {
  std::vector<pid_t> pids;
  ProcessWatch watch{[&] { return pids; }};
  const Family family;
  pids = process_tree(family.parent());
  const Effects effects = watch.read();
  EXPECT_GT(*effects.peak_resident, Bytes{});
  EXPECT_GE(*effects.processor_s, 0);
}

TEST(ProcessWatch, OfNobodySaysNothingOfProcesses) {
  ProcessWatch watch{[] { return std::vector<pid_t>{}; }};
  const Effects effects = watch.read();
  EXPECT_EQ(effects.bytes_read, std::nullopt);
  EXPECT_EQ(effects.processor_s, std::nullopt);
}

// ---- the machine's load ----

SeenProcess seen(pid_t parent, std::uint64_t first, std::uint64_t last) {
  SeenProcess one;
  one.first.bytes_read = Bytes{first};
  one.last.bytes_read = Bytes{last};
  one.last.parent = parent;
  return one;
}

// Whoever reaps a child has all that it ever read added to its own figure.
TEST(ProcessWatch, CountsWhatAReapedChildReadOnce) {
  std::map<pid_t, SeenProcess> family{{10, seen(1, 100, 150)}, {11, seen(10, 1000, 1300)}};
  EXPECT_EQ(bytes_read_by(family), Bytes{350});
  family[11].is_gone = true;  // and not reaped yet
  EXPECT_EQ(bytes_read_by(family), Bytes{350});
  family[10].last.bytes_read = Bytes{150 + 1300};
  EXPECT_EQ(bytes_read_by(family), Bytes{350});
  family[10].last.bytes_read.reset();
  EXPECT_EQ(bytes_read_by(family), std::nullopt);
}

TEST(MachineLoad, IsQuietWhereNothingWaits) {
  LoadChange load{.seconds = 1, .busy_s = 0.2, .own_s = 0.1};
  load.stall = {{"cpu", 0.04}, {"memory", 0.09}, {"io", 0.09}};
  EXPECT_TRUE(is_quiet(load));
  for (const auto& [kind, share] :
       {std::pair{"cpu", 0.06}, std::pair{"memory", 0.11}, std::pair{"io", 0.11}}) {
    LoadChange other = load;
    other.stall[kind] = share;
    EXPECT_FALSE(is_quiet(other)) << kind;
  }
  load.stall.clear();  // a kernel that does not tell
  EXPECT_TRUE(is_quiet(load));
  load.busy_s = 0.3;
  EXPECT_FALSE(is_quiet(load));
}

TEST(MachineLoad, ReadsTheKernelsLines) {
  EXPECT_EQ(busy_ticks_in("cpu  10 20 30 4000 50 6 7 8 900 0\ncpu0 1 2 3 4\n"), 81U);
  EXPECT_EQ(busy_ticks_in("nonsense"), 0U);
  EXPECT_EQ(stalled_in("some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull x\n"), 2.5);
  EXPECT_EQ(stalled_in(""), std::nullopt);
}

TEST(MachineLoad, ChangesBetweenTwoMoments) {
  MachineLoad before, after;
  before.at = {};
  after.at = before.at + 2s;
  after.busy_s = 3;
  after.own_s = 1;
  before.stall_s["cpu"] = 1;
  after.stall_s["cpu"] = 1.5;
  after.stall_s["io"] = 1;
  before.joules = 100;
  after.joules = 20;  // wrapped around
  const LoadChange found = change(before, after);
  EXPECT_EQ(found.seconds, 2);
  EXPECT_EQ(found.busy_s, 3);
  EXPECT_EQ(found.stall, (std::map<std::string, double>{{"cpu", 0.25}}));
  EXPECT_EQ(found.joules, std::nullopt);
}

TEST(MachineLoad, IsNotQuietWhenTheProcessorsAreTaken) {
  const pid_t busy = ::fork();
  if (busy == 0) {
    while (true) {
    }
  }
  EXPECT_FALSE(wait_until_quiet(1ms));
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
}

}  // namespace
}  // namespace hearth::lab
