// SPDX-License-Identifier: Apache-2.0
#include "front/model_host.h"

#include <gtest/gtest.h>

#include "base/event_loop_asio.h"
#include "front/testing/scripted_worker.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::answer;
using testing::Script;
using testing::ScriptedProcesses;
using testing::well_behaved;
using wire::BlockingChannel;
using wire::Frame;
using wire::FrameType;

const bool kNeverCancelled = false;

class ModelHostTest : public ::testing::Test {
 protected:
  void host_with(std::vector<Script> scripts, Duration hang_limit = 30s,
                 LoadPlanner* planner = nullptr) {
    processes_ = std::make_unique<ScriptedProcesses>(std::move(scripts));
    HostSettings settings;
    settings.worker_program = "scripted";
    settings.hang_limit = hang_limit;
    // Any readable file will do: a scripted worker does not look at it.
    host_ = std::make_unique<ModelHost>(
        ModelHost::World{loop_, pool_, Files::real(), *processes_, planner},
        HostModel{"artifact", "model:latest", {"/proc/self/exe"}}, settings,
        [this](ModelHost&) { ++changes_; });
  }

  // Runs `body` to its end, stops the host, and returns.
  void run(Task<void> body) {
    loop_.spawn(finish(this, std::move(body)));
    loop_.run();
  }

  static Task<void> finish(ModelHostTest* test, Task<void> body) {
    co_await std::move(body);
    co_await test->host_->stop();
    test->loop_.stop();
  }

  static Task<void> load_into(ModelHost& host, const bool* cancelled, Gate::Pass,
                              Result<>& result) {
    result = co_await host.ensure_resident(cancelled);
  }

  Pool pool_{"test", 2};
  AsioEventLoop loop_;
  std::unique_ptr<ScriptedProcesses> processes_;
  std::unique_ptr<ModelHost> host_;
  int changes_ = 0;
};

Task<void> loads_once(ModelHost& host, Result<>& result) {
  result = co_await host.ensure_resident(&kNeverCancelled);
}

TEST_F(ModelHostTest, BecomesResident) {
  host_with({well_behaved});
  Result<> result;
  run(loads_once(*host_, result));
  EXPECT_TRUE(result) << result.error().message();
  EXPECT_EQ(host_->last_load()->number, 1U);
  EXPECT_EQ(host_->last_load()->cause, WeightsCause::kFirstUse);
  EXPECT_GT(changes_, 2);
}

struct Waiters {
  explicit Waiters(EventLoop& loop) : gate{loop} {}
  Gate gate;
  bool cancelled[3] = {};
  Result<> results[3];
};

Task<void> wait_for_load(ModelHost& host, Waiters& waiters, int n) {
  const auto pass = waiters.gate.enter();
  waiters.results[n] = co_await host.ensure_resident(&waiters.cancelled[n]);
}

Task<void> three_wait_first_leaves(EventLoop& loop, ModelHost& host, Waiters& waiters) {
  for (int n = 0; n < 3; ++n) loop.spawn(wait_for_load(host, waiters, n));
  waiters.cancelled[0] = true;
  host.poke();
  co_await waiters.gate.close();
}

// cases.md row 8: a load belongs to the host, not to its first caller.
TEST_F(ModelHostTest, LoadOutlivesTheWaiterThatBeganIt) {
  int loads = 0;
  host_with({[&loads](BlockingChannel& channel, const Frame& frame) {
    if (frame.type == FrameType::kLoad) ++loads;
    return well_behaved(channel, frame);
  }});
  Waiters waiters{loop_};
  run(three_wait_first_leaves(loop_, *host_, waiters));
  EXPECT_EQ(waiters.results[0].error().code(), ErrorCode::kCancelled);
  EXPECT_TRUE(waiters.results[1]);
  EXPECT_TRUE(waiters.results[2]);
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(processes_->spawned(), 1);
}

TEST_F(ModelHostTest, SpawnsAgainAfterADeathWhileOpening) {
  host_with({[](BlockingChannel&, const Frame&) { return false; }, well_behaved});
  Result<> result;
  run(loads_once(*host_, result));
  EXPECT_TRUE(result) << result.error().message();
  EXPECT_EQ(processes_->spawned(), 2);
  EXPECT_EQ(host_->deaths(), 1U);
  EXPECT_EQ(host_->last_load()->cause, WeightsCause::kWorkerDied);
}

TEST_F(ModelHostTest, GivesUpAfterTwoDeaths) {
  host_with({[](BlockingChannel&, const Frame&) { return false; }});
  Result<> result;
  run(loads_once(*host_, result));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kUnavailable);
  EXPECT_NE(result.error().message().find("died while it opened"), std::string::npos);
  EXPECT_EQ(processes_->spawned(), 2);
}

Task<void> load_three_times(ModelHost& host, Result<>& second, Result<>& third) {
  (void)co_await host.ensure_resident(&kNeverCancelled);
  second = co_await host.ensure_resident(&kNeverCancelled);
  host.forgive();
  third = co_await host.ensure_resident(&kNeverCancelled);
}

TEST_F(ModelHostTest, AfterTwoDeathsTheAnswerIsKnownUntilSomebodyAsksForATry) {
  const Script dies = [](BlockingChannel&, const Frame&) { return false; };
  host_with({dies, dies, well_behaved});
  Result<> second, third;
  run(load_three_times(*host_, second, third));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find("died while it opened"), std::string::npos);
  EXPECT_TRUE(third) << third.error().message();
  EXPECT_EQ(processes_->spawned(), 3);
}

TEST_F(ModelHostTest, ARefusedFileIsNotTriedTwice) {
  host_with({[](BlockingChannel& channel, const Frame& frame) {
    if (frame.type == FrameType::kOpen) {
      wire::FailedMessage failed;
      failed.code = "corrupt";
      failed.message = "no vocabulary";
      answer(channel, FrameType::kFailed, 0, wire::encode(failed));
    }
    return true;
  }});
  Result<> result;
  run(loads_once(*host_, result));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(result.error().message(), "no vocabulary");
  EXPECT_EQ(processes_->spawned(), 1);
}

TEST_F(ModelHostTest, KillsAWorkerThatHangsInALoad) {
  host_with({[](BlockingChannel& channel, const Frame& frame) {
              if (frame.type == FrameType::kLoad) return true;  // and nothing ever comes
              return well_behaved(channel, frame);
            }},
            50ms);
  Result<> result;
  run(loads_once(*host_, result));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(host_->deaths(), 1U);
}

// The first plan is ready when it is told to be, later ones at once.
class HeldPlanner : public LoadPlanner {
 public:
  explicit HeldPlanner(EventLoop& loop) : changed_{loop} {}
  Task<LoadPlan> plan(std::string, wire::ReadyMessage) override {
    const bool first = plans_++ == 0;
    changed_.notify_all();
    while (first && !let_go_) co_await changed_.wait();
    LoadPlan plan;
    co_return plan;
  }
  void let_go() {
    let_go_ = true;
    changed_.notify_all();
  }
  Task<void> planned() {
    while (plans_ == 0) co_await changed_.wait();
  }

 private:
  Notify changed_;
  int plans_ = 0;
  bool let_go_ = false;
};

Task<void> die_while_planning(ModelHost& host, HeldPlanner& planner, Waiters& waiters,
                              EventLoop& loop) {
  loop.spawn(wait_for_load(host, waiters, 0));
  co_await planner.planned();
  host.poison("for the test");
  while (host.deaths() == 0) co_await loop.sleep(1ms);
  loop.spawn(wait_for_load(host, waiters, 1));
  co_await waiters.gate.close();
  planner.let_go();
}

TEST_F(ModelHostTest, AWorkerThatDiedWhilePlanningDoesNotHideThatTheNextHangs) {
  HeldPlanner planner{loop_};
  host_with({well_behaved,
             [](BlockingChannel& channel, const Frame& frame) {
               if (frame.type == FrameType::kLoad) return true;  // and nothing ever comes
               return well_behaved(channel, frame);
             }},
            50ms, &planner);
  Waiters waiters{loop_};
  run(die_while_planning(*host_, planner, waiters, loop_));
  EXPECT_FALSE(waiters.results[0]);
  EXPECT_FALSE(waiters.results[1]);
  EXPECT_GE(host_->deaths(), 2U);
}

Task<void> drop_a_plan(ModelHost& host, HeldPlanner& planner, Waiters& waiters, EventLoop& loop) {
  loop.spawn(wait_for_load(host, waiters, 0));
  co_await planner.planned();
  waiters.cancelled[0] = true;
  host.poke();
  while (waiters.results[0]) co_await loop.sleep(1ms);
  EXPECT_EQ(host.level(), WeightsLevel::kLoading);
  const Result<> unloaded = co_await host.unload(WeightsCause::kAsked);
  EXPECT_TRUE(unloaded);
  EXPECT_EQ(host.level(), WeightsLevel::kHollow);
  loop.spawn(wait_for_load(host, waiters, 1));
  co_await waiters.gate.close();
  planner.let_go();
}

TEST_F(ModelHostTest, AnUnloadDropsALoadThatIsOnlyPlanned) {
  HeldPlanner planner{loop_};
  int loads = 0;
  host_with({[&loads](BlockingChannel& channel, const Frame& frame) {
              if (frame.type == FrameType::kLoad) ++loads;
              return well_behaved(channel, frame);
            }},
            30s, &planner);
  Waiters waiters{loop_};
  run(drop_a_plan(*host_, planner, waiters, loop_));
  EXPECT_TRUE(waiters.results[1]);
  EXPECT_EQ(loads, 1);
}

Task<void> load_unload_load(ModelHost& host, std::vector<WeightsLevel>& levels) {
  (void)co_await host.ensure_resident(&kNeverCancelled);
  levels.push_back(host.level());
  (void)co_await host.unload(WeightsCause::kAsked);
  levels.push_back(host.level());
  (void)co_await host.ensure_resident(&kNeverCancelled);
  levels.push_back(host.level());
}

TEST_F(ModelHostTest, UnloadingMakesHollowAndIsTheNextLoadsCause) {
  host_with({well_behaved});
  std::vector<WeightsLevel> levels;
  run(load_unload_load(*host_, levels));
  EXPECT_EQ(levels,
            (std::vector{WeightsLevel::kResident, WeightsLevel::kHollow, WeightsLevel::kResident}));
  EXPECT_EQ(host_->last_load()->number, 2U);
  EXPECT_EQ(host_->last_load()->cause, WeightsCause::kAsked);
  EXPECT_EQ(processes_->spawned(), 1);
}

Task<void> unload_all(ModelHost& host, Waiters& waiters, int n) {
  const auto pass = waiters.gate.enter();
  waiters.results[n] = co_await host.unload(WeightsCause::kAsked);
}

Task<void> request_during_unload(EventLoop& loop, ModelHost& host, Waiters& waiters) {
  (void)co_await host.ensure_resident(&kNeverCancelled);
  loop.spawn(unload_all(host, waiters, 0));
  EXPECT_EQ(host.level(), WeightsLevel::kUnloading);
  loop.spawn(wait_for_load(host, waiters, 1));
  co_await waiters.gate.close();
}

// cases.md row 7: a request that meets an unload waits for it and loads again.
TEST_F(ModelHostTest, ARequestDuringAnUnloadLoadsAgain) {
  host_with({well_behaved});
  Waiters waiters{loop_};
  run(request_during_unload(loop_, *host_, waiters));
  EXPECT_TRUE(waiters.results[0]);
  EXPECT_TRUE(waiters.results[1]) << waiters.results[1].error().message();
  EXPECT_EQ(host_->last_load()->number, 2U);
}

TEST_F(ModelHostTest, ANonsenseFrameCostsTheWorker) {
  host_with({[](BlockingChannel& channel, const Frame& frame) {
    if (frame.type == FrameType::kOpen) {
      answer(channel, FrameType::kReady, 0, "{\"backend\":17}");
      return true;
    }
    return well_behaved(channel, frame);
  }});
  Result<> result;
  run(loads_once(*host_, result));
  ASSERT_FALSE(result);
  EXPECT_EQ(host_->deaths(), 2U);
}

}  // namespace
}  // namespace hearth::front
