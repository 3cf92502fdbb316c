// SPDX-License-Identifier: Apache-2.0
// Real models that give way, and loads that nobody waits for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "engine/test_models.h"
#include "worker/idle_priority.h"
#include "worker/test_front.h"
#include "worker/test_privilege.h"

namespace hearth::worker {
namespace {

using namespace std::chrono_literals;
using test::greedy;
using test::TestFront;
using wire::FrameType;

constexpr const char* kKing = "Once upon a time there was a king who lived in";

wire::LoadOptions options() {
  wire::LoadOptions out;
  out.context_limit = 1024;
  return out;
}

void drop(const std::string& path) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  ::fdatasync(file.get());
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

void give_way(TestFront& front, int threads, int percent) {
  front.send(FrameType::kGiveWay, 0, wire::encode(wire::GiveWayMessage{threads, percent}));
}

Duration time_of(const std::function<void()>& work) {
  const TimePoint begin = Clock::real().now();
  work();
  return Clock::real().now() - begin;
}

wire::LoadMessage idle_load(wire::ReadMode mode) {
  wire::LoadMessage how;
  how.read = mode;
  how.block = Bytes{1 << 20};
  how.readers = 2;
  how.idle = true;
  return how;
}

TEST(GiveWay, MayComeBeforeAnythingElse) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  TestFront front;
  give_way(front, 1, 100);
  front.open(path, options());
  front.load();
  front.generate(greedy(kKing, 8));
  const auto beat = wire::decode_heartbeat(front.next(FrameType::kHeartbeat).payload);
  EXPECT_EQ(beat->threads, 1);
}

// The worker is in this process.
Duration cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + Duration{used.tv_nsec};
}

TEST(GiveWay, ALessenedShareOfTheTimeIsKeptToAndSaysTheSame) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  TestFront front;
  front.open(path, options());
  front.load();
  const std::string usual = front.generate(greedy(kKing, 24)).text;
  give_way(front, 1, 20);
  std::string slowed;
  const Duration before = cpu_time();
  const Duration took = time_of([&] { slowed = front.generate(greedy(kKing, 24)).text; });
  // A fifth, and what does not evaluate; whatever neighbours do meanwhile.
  EXPECT_LT(cpu_time() - before, took * 2 / 5);
  EXPECT_EQ(slowed, usual);
}

int idle_threads() {
  int count = 0;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/task"}) {
    const auto id = static_cast<pid_t>(std::stol(each.path().filename().string()));
    if (::sched_getscheduler(id) == SCHED_IDLE) ++count;
  }
  return count;
}

TEST(GiveWay, EvaluationTakesWhatOthersLeaveAndComesBack) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  if (!may_come_back()) GTEST_SKIP() << "the system lets no thread come back from there";
  TestFront front;
  front.open(path, options());
  front.load();
  const std::string usual = front.generate(greedy(kKing, 4)).text;
  const int others = idle_threads();  // of tests before this one
  give_way(front, 1, 100);
  EXPECT_EQ(front.generate(greedy(kKing, 4)).text, usual);
  EXPECT_GT(idle_threads(), others);
  give_way(front, 0, 100);
  EXPECT_EQ(front.generate(greedy(kKing, 4)).text, usual);
  EXPECT_EQ(idle_threads(), others);
}

TEST(GiveWay, WhoIsCancelledDoesNotWaitForARestToEnd) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  TestFront front;
  front.open(path, options());
  front.load();
  give_way(front, 0, 1);
  wire::GenerateMessage message = greedy("", 100);
  for (int i = 0; i < 400; ++i) message.prompt_tokens.push_back(300 + i * 7 % 5000);
  front.send(FrameType::kGenerate, 5, wire::encode(message));
  front.next(FrameType::kTokenized);
  front.send(FrameType::kCancel, 5);
  const Duration took = time_of([&] { EXPECT_EQ(front.collect(1)[5].done.reason, "cancelled"); });
  EXPECT_LT(took, 8s);
  // Nor does another when way is not given any more.
  give_way(front, 0, 100);
  EXPECT_LT(time_of([&] { front.generate(greedy(kKing, 2)); }), 8s);
}

class IdleLoads : public testing::TestWithParam<wire::ReadMode> {};

TEST_P(IdleLoads, GiveTheSameText) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  TestFront front;
  front.open(path, options());
  front.load();
  const std::string wanted = front.generate(greedy(kKing, 6)).text;
  front.unload();
  drop(path);
  front.load(idle_load(GetParam()));
  EXPECT_EQ(front.generate(greedy(kKing, 6)).text, wanted);
}

enum class Privilege { kKept, kNone };
void load_and_ask_at_once(const std::string& path, wire::ReadMode mode, Privilege privilege) {
  if (privilege == Privilege::kNone) test::give_up_nice();
  TestFront front;
  front.open(path, options());
  front.load();
  const std::string wanted = front.generate(greedy(kKing, 6)).text;
  for (int i = 0; i < 3; ++i) {
    front.unload();
    drop(path);
    front.send(FrameType::kLoad, 0, wire::encode(idle_load(mode)));
    // The first is sent before there are readers.
    for (int told = 0; told < 2;) {
      const FrameType type = front.next().type;
      if (type == FrameType::kLoaded) break;
      told += type == FrameType::kProgress ? 1 : 0;
    }
    EXPECT_EQ(front.generate(greedy(kKing, 6)).text, wanted);
  }
}

TEST_P(IdleLoads, HurryForARequest) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  std::thread{[&] { load_and_ask_at_once(path, GetParam(), Privilege::kKept); }}.join();
}

TEST_P(IdleLoads, AreHandedOverWhereReadersMayNotHurry) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  std::thread{[&] { load_and_ask_at_once(path, GetParam(), Privilege::kNone); }}.join();
}

INSTANTIATE_TEST_SUITE_P(Modes, IdleLoads,
                         testing::Values(wire::ReadMode::kMapped, wire::ReadMode::kBuffered,
                                         wire::ReadMode::kDirect),
                         [](const auto& test) { return std::string{wire::name_of(test.param)}; });

TEST(IdleLoad, ARepackedModelIsHandedOverToo) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kGemma);
  std::thread{[&] {
    load_and_ask_at_once(path, wire::ReadMode::kBuffered, Privilege::kNone);
  }}.join();
}

}  // namespace
}  // namespace hearth::worker
