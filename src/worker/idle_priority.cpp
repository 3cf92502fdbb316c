// SPDX-License-Identifier: Apache-2.0
#include "worker/idle_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace hearth::worker {
namespace {

// The C library has no wrapper and no names for these.
constexpr int kThread = 1;
constexpr int kIdleClass = 3 << 13;
constexpr int kByPriority = 0;  // the disk follows the processor's priority

constexpr int kLowest = 19;

// What a sandbox forbids stays as it is.
void set_disk_class(pid_t thread, int value) {
  (void)::syscall(SYS_ioprio_set, kThread, thread, value);
}

bool failed(int result) { return result != 0 && errno != ESRCH; }

}  // namespace

void become_idle() {
  const pid_t thread = ::gettid();
  const sched_param none{};
  (void)::sched_setscheduler(thread, SCHED_IDLE, &none);
  // So that whoever counts the CPU's time knows it for low: SCHED_IDLE alone does not show there.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), kLowest);
  set_disk_class(thread, kIdleClass);
}

bool may_come_back() {
  static const bool may = [] {
    bool back = false;
    std::thread{[&back] {
      become_idle();
      const pid_t self = ::gettid();
      back = come_back({&self, 1});
    }}.join();
    return back;
  }();
  return may;
}

void go_behind(std::span<const pid_t> threads) {
  for (const pid_t thread : threads) {
    const sched_param none{};
    (void)::sched_setscheduler(thread, SCHED_IDLE, &none);
  }
}

void make_idle(std::span<const pid_t> threads) {
  go_behind(threads);
  for (const pid_t thread : threads) {
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), kLowest);
  }
}

bool come_back(std::span<const pid_t> threads) {
  bool all = true;
  for (const pid_t thread : threads) {
    set_disk_class(thread, kByPriority);
    const sched_param none{};
    if (failed(::sched_setscheduler(thread, SCHED_OTHER, &none))) all = false;
    if (failed(::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), 0))) all = false;
  }
  return all;
}

}  // namespace hearth::worker
