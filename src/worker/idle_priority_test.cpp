// SPDX-License-Identifier: Apache-2.0
#include "worker/idle_priority.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "worker/test_privilege.h"

namespace hearth::worker {
namespace {

struct Seen {
  int policy, nice;
  long disk_class;
};
Seen seen() {
  return {::sched_getscheduler(0), ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())),
          ::syscall(SYS_ioprio_get, 1, 0) >> 13};
}

TEST(IdlePriority, IsOfOneThreadAlone) {
  const Seen before = seen();
  std::thread{[] {
    become_idle();
    EXPECT_EQ(seen().policy, SCHED_IDLE);
    EXPECT_EQ(seen().nice, 19);
    EXPECT_EQ(seen().disk_class, 3);
  }}.join();
  EXPECT_EQ(seen().policy, before.policy);
  EXPECT_EQ(seen().nice, before.nice);
  EXPECT_EQ(seen().disk_class, before.disk_class);
}

TEST(IdlePriority, WhoeverMayComesBack) {
  std::thread{[] {
    become_idle();
    const pid_t self = ::gettid();
    const bool back = come_back({&self, 1});
    EXPECT_EQ(back, seen().policy == SCHED_OTHER && seen().nice == 0);
    EXPECT_NE(seen().disk_class, 3);
  }}.join();
}

TEST(IdlePriority, WithoutPrivilegeDisksComeBackAlone) {
  std::thread{[] {
    if (!test::give_up_nice()) return;
    become_idle();
    const pid_t self = ::gettid();
    EXPECT_FALSE(come_back({&self, 1}));
    EXPECT_EQ(seen().policy, SCHED_IDLE);
    EXPECT_NE(seen().disk_class, 3);
  }}.join();
}

}  // namespace
}  // namespace hearth::worker
