// SPDX-License-Identifier: Apache-2.0
#include "front/protected/service_source.h"

#include <gtest/gtest.h>

#include "front/protected/fake_proc.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using State = ServiceSource::State;

class Sources : public testing::Test {
 protected:
  std::unique_ptr<ServiceSource> process(const std::string& name) {
    return process_source(name, proc_.roots());
  }
  test::FakeProc proc_;
};

TEST_F(Sources, SumWhatAllTasksOfAProgramWaited) {
  proc_.process(100, "postgres");
  proc_.task(100, 100, 5ms, 10);
  proc_.task(100, 101, 1ms, 3);
  proc_.process(200, "postgres");
  proc_.task(200, 200, 0ms, 0);
  proc_.process(300, "other");
  proc_.task(300, 300, 9h, 1);
  const auto source = process("postgres");
  const auto first = source->read();
  ASSERT_EQ(first.state, State::kThere);
  ASSERT_TRUE(first.counts.runs);
  EXPECT_EQ(first.counts.runs->times, 0u);

  proc_.task(100, 100, 7ms, 14);
  proc_.task(200, 200, 1ms, 2);
  proc_.task(100, 102, 4ms, 5);  // a new one
  proc_.end_task(100, 101);
  const auto second = source->read();
  EXPECT_EQ(second.counts.runs->waited, 7ms);
  EXPECT_EQ(second.counts.runs->times, 11u);
}

TEST_F(Sources, NeverGoBack) {
  proc_.process(100, "app");
  proc_.task(100, 100, 50ms, 10);
  const auto source = process("app");
  source->read();
  proc_.task(100, 100, 60ms, 12);
  EXPECT_EQ(source->read().counts.runs->waited, 10ms);
  proc_.task(100, 100, 1ms, 1);  // its number was given to another
  EXPECT_EQ(source->read().counts.runs->waited, 10ms);
  proc_.task(100, 100, 2ms, 2);
  EXPECT_EQ(source->read().counts.runs->waited, 11ms);
}

TEST_F(Sources, FindAProgramAgain) {
  const auto source = process("app");
  EXPECT_EQ(source->read().state, State::kGone);
  proc_.process(100, "app");
  proc_.task(100, 100, 1s, 10);
  int reads = 0;
  while (source->read().state == State::kGone && reads < 20) ++reads;
  EXPECT_LE(reads, 10);
  proc_.end(100);
  proc_.process(555, "app");
  proc_.task(555, 555, 1s, 10);
  EXPECT_EQ(source->read().state, State::kGone);
  const auto again = source->read();
  EXPECT_EQ(again.state, State::kThere);
  EXPECT_EQ(again.counts.runs->waited, 0ms);
  proc_.process(555, "another");  // the same number, another program
  EXPECT_EQ(source->read().state, State::kGone);
}

TEST_F(Sources, KnowAProgramByItsLongNameToo) {
  proc_.process(100, "a-very-long-pro");
  proc_.task(100, 100, 1s, 10);
  EXPECT_EQ(process("a-very-long-program-name")->read().state, State::kThere);
  EXPECT_EQ(process("a-very-long-pr")->read().state, State::kGone);
  proc_.process(200, "MainThread");
  proc_.task(200, 200, 1s, 10);
  std::filesystem::create_symlink("/opt/bin/frigate (deleted)", proc_.roots().proc + "/200/exe");
  EXPECT_EQ(process("frigate")->read().state, State::kThere);
}

TEST_F(Sources, SayWhenThereIsNothingToRead) {
  proc_.process(100, "app", "/");
  EXPECT_EQ(process("app")->read().state, State::kUnreadable);
  proc_.task(100, 100, 1s, 10);
  proc_.write("proc/100/task/100/schedstat", "rubbish");
  EXPECT_EQ(process("app")->read().state, State::kUnreadable);
  proc_.write("cgroup/silent/cgroup.procs", "");
  EXPECT_EQ(cgroup_source("silent", proc_.roots())->read().state, State::kUnreadable);
  EXPECT_EQ(cgroup_source("nowhere", proc_.roots())->read().state, State::kGone);
}

struct GroupCase {
  const char* name;
  const char* ours;
  const char* theirs;
  bool told;
};
class Groups : public Sources, public testing::WithParamInterface<GroupCase> {};
TEST_P(Groups, AreReadUnlessHearthIsInThem) {
  proc_.write("proc/self/cgroup", std::string{"0::"} + GetParam().ours + "\n");
  proc_.process(100, "app", GetParam().theirs);
  proc_.task(100, 100, 1s, 10);
  proc_.waits(GetParam().theirs, "cpu", 100us);
  const auto source = process("app");
  source->read();
  proc_.waits(GetParam().theirs, "cpu", 300us);
  const auto reading = source->read();
  EXPECT_EQ(reading.counts.cpu, GetParam().told ? std::optional<Duration>{200us} : std::nullopt);
}
INSTANTIATE_TEST_SUITE_P(Cases, Groups,
                         testing::Values(GroupCase{"Others", "/hearth", "/app", true},
                                         GroupCase{"Inner", "/user", "/user/app", true},
                                         GroupCase{"NamesThatBeginAlike", "/user2", "/user", true},
                                         GroupCase{"Same", "/user", "/user", false},
                                         GroupCase{"Outer", "/user/hearth", "/user", false},
                                         GroupCase{"Root", "/hearth", "/", false}),
                         [](const auto& test) { return test.param.name; });

TEST_F(Sources, FollowAControlGroup) {
  const auto source = cgroup_source("/machine/recorder/", proc_.roots());
  EXPECT_EQ(source->read().state, State::kGone);
  proc_.waits("machine/recorder", "cpu", 1000us);
  proc_.waits("machine/recorder", "memory", 0us);
  EXPECT_EQ(source->read().state, State::kThere);
  proc_.waits("machine/recorder", "cpu", 1500us);
  const auto reading = source->read();
  EXPECT_EQ(reading.counts.cpu, 500us);
  EXPECT_EQ(reading.counts.memory, 0us);
  EXPECT_FALSE(reading.counts.io);
  EXPECT_FALSE(reading.counts.runs);
  proc_.remove("cgroup/machine");
  EXPECT_EQ(source->read().state, State::kGone);
  proc_.waits("machine/recorder", "cpu", 9000us);  // made anew
  EXPECT_EQ(source->read().counts.cpu, 500us);
}

TEST_F(Sources, FindVersionTwoBesideVersionOne) {
  proc_.waits("unified/app", "memory", 10us);
  EXPECT_EQ(cgroup_source("app", proc_.roots())->read().state, State::kThere);
}

TEST(RealProc, IsRead) {
  // The oldest process; of others' some figures may be hidden.
  const std::string name = [] {
    std::ifstream comm{"/proc/1/comm"};
    std::string text;
    std::getline(comm, text);
    return text;
  }();
  if (name.empty()) GTEST_SKIP() << "no /proc/1";
  EXPECT_NE(process_source(name, {})->read().state, State::kGone);
}

}  // namespace
}  // namespace hearth::front
