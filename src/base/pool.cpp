// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth {
namespace {

// Both fail only where a sandbox forbids them; then the thread is as any other.
void become_idle() {
  const sched_param none{};
  (void)::pthread_setschedparam(::pthread_self(), SCHED_IDLE, &none);
  // So that whoever counts the CPU's time knows it for low: SCHED_IDLE alone does not show there.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
  // The C library has no wrapper and no names for these.
  constexpr int kThisThread = 1;
  constexpr int kIdleClass = 3 << 13;
  (void)::syscall(SYS_ioprio_set, kThisThread, 0, kIdleClass);
}

}  // namespace

Pool::Pool(std::string name, int threads, Priority priority) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, priority] { work(priority); });
    // Linux keeps 15 characters.
    ::pthread_setname_np(threads_.back().native_handle(), name.substr(0, 15).c_str());
  }
}

Pool::~Pool() {
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Pool::submit(std::function<void()> job) {
  if (threads_.empty()) {
    job();
    return;
  }
  {
    std::lock_guard lock{mutex_};
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Pool::work(Priority priority) {
  if (priority == Priority::kIdle) become_idle();
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace hearth
