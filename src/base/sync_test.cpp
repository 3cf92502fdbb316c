// SPDX-License-Identifier: Apache-2.0
#include "base/sync.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/sim_event_loop.h"

namespace hearth {
namespace {

using namespace std::chrono_literals;

Task<void> wait_plain(Notify* notify, std::string* seen) {
  co_await notify->wait();
  *seen += 'n';
}
Task<void> wait_until(Notify* notify, TimePoint deadline, std::string* seen) {
  const bool notified = co_await notify->wait_until(deadline);
  *seen += notified ? 'n' : 't';
}

class SyncTest : public testing::Test {
 protected:
  SimEventLoop loop_;
  std::string seen_;
};

TEST_F(SyncTest, NotifyWakesAllFromTheLoop) {
  Notify notify{loop_};
  loop_.spawn(wait_plain(&notify, &seen_));
  loop_.spawn(wait_until(&notify, loop_.now() + 1s, &seen_));
  notify.notify_all();
  EXPECT_EQ(seen_, "") << "never from inside notify_all()";
  loop_.run_ready();
  EXPECT_EQ(seen_, "nn");
  loop_.run_for(10s);
  EXPECT_EQ(seen_, "nn") << "the deadline was cancelled";
}

TEST_F(SyncTest, NotifyTimesOutAtItsDeadline) {
  Notify notify{loop_};
  const TimePoint start = loop_.now();
  loop_.spawn(wait_until(&notify, start + 30s, &seen_));
  loop_.run_for(29s);
  EXPECT_EQ(seen_, "");
  loop_.run_for(1s);
  EXPECT_EQ(seen_, "t");
  notify.notify_all();
  loop_.run_ready();
  EXPECT_EQ(seen_, "t");
}

TEST_F(SyncTest, NotifiedWaiterDoesNotTimeOutEvenAtItsDeadline) {
  Notify notify{loop_};
  loop_.call_at(loop_.now() + 1s, [&] { notify.notify_all(); });
  loop_.spawn(wait_until(&notify, loop_.now() + 1s, &seen_));
  loop_.run_for(2s);
  EXPECT_EQ(seen_, "n");
}

Task<void> read_all(Mailbox<std::string>* box, std::string* seen) {
  while (true) {
    const std::optional<std::string> item = co_await box->pop();
    if (!item) break;
    *seen += *item;
  }
  *seen += '.';
}

TEST_F(SyncTest, MailboxKeepsOrderAndGivesWhatCameBeforeClose) {
  Mailbox<std::string> box{loop_};
  box.push("a");
  loop_.spawn(read_all(&box, &seen_));
  EXPECT_EQ(seen_, "a");
  box.push("b");
  box.push("c");
  EXPECT_EQ(box.size(), 2U);
  box.close();
  box.push("late");
  EXPECT_TRUE(box.closed());
  loop_.run_ready();
  EXPECT_EQ(seen_, "abc.");
}

Task<void> read_until(Mailbox<std::string>* box, TimePoint deadline, std::string* seen) {
  const std::optional<std::string> item = co_await box->pop_until(deadline);
  *seen += item.value_or("-");
}

TEST_F(SyncTest, MailboxWaitsNoLongerThanAsked) {
  Mailbox<std::string> box{loop_};
  loop_.spawn(read_until(&box, loop_.now() + 5s, &seen_));
  loop_.run_for(6s);
  EXPECT_EQ(seen_, "-");
  loop_.spawn(read_until(&box, loop_.now() + 5s, &seen_));
  box.push("x");
  loop_.run_ready();
  EXPECT_EQ(seen_, "-x");
}

Task<void> close_gate(Gate* gate, std::string* seen) {
  co_await gate->close();
  *seen += 'c';
}
Task<void> close_gate_until(Gate* gate, TimePoint deadline, std::string* seen) {
  const bool empty = co_await gate->close_until(deadline);
  *seen += empty ? 'y' : 'n';
}

TEST_F(SyncTest, GateClosesWhenTheLastOneHasLeft) {
  Gate gate{loop_};
  std::optional<Gate::Pass> first = gate.enter();
  std::optional<Gate::Pass> second = gate.enter();
  ASSERT_TRUE(first && second);
  loop_.spawn(close_gate(&gate, &seen_));
  EXPECT_FALSE(gate.enter());
  first.reset();
  loop_.run_ready();
  EXPECT_EQ(seen_, "");
  {
    const Gate::Pass moved = *std::move(second);
    second.reset();
    EXPECT_EQ(gate.inside(), 1) << "a moved-from pass stands for nothing";
  }
  loop_.run_ready();
  EXPECT_EQ(seen_, "c");
}

TEST_F(SyncTest, EmptyGateClosesAtOnce) {
  Gate gate{loop_};
  loop_.spawn(close_gate(&gate, &seen_));
  EXPECT_EQ(seen_, "c");
}

TEST_F(SyncTest, GateStopsWaitingAtItsDeadline) {
  Gate gate{loop_};
  std::optional<Gate::Pass> pass = gate.enter();
  loop_.spawn(close_gate_until(&gate, loop_.now() + 5s, &seen_));
  loop_.run_for(6s);
  EXPECT_EQ(seen_, "n");
  loop_.spawn(close_gate_until(&gate, loop_.now() + 5s, &seen_));
  pass.reset();
  loop_.run_ready();
  EXPECT_EQ(seen_, "ny");
}

}  // namespace
}  // namespace hearth
