// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <semaphore.h>

#include <array>
#include <cerrno>

namespace hearth::cli {
namespace {

volatile std::sig_atomic_t seen = 0;
int depth = 0;
constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
std::size_t watched = 0;  // so many of them
std::array<struct sigaction, kSignals.size()> earlier{};

// sem_post() is one of the few ways to wake a thread that a signal handler may use.
sem_t& wakeups() {
  static sem_t semaphore;
  static const int made = ::sem_init(&semaphore, 0, 0);
  static_cast<void>(made);
  return semaphore;
}

sem_t* const made_before_any_signal = &wakeups();

void on_interrupt(int) {
  const int error = errno;
  seen = 1;
  ::sem_post(made_before_any_signal);
  errno = error;
}

}  // namespace

InterruptWatch::InterruptWatch(Signals signals) {
  if (depth++ > 0) return;
  forget();
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  watched = signals == Signals::kInterrupt ? 1 : kSignals.size();
  for (std::size_t i = 0; i < watched; ++i) {
    ::sigaction(kSignals[i], &action, &earlier[i]);
    const bool is_ignored = earlier[i].sa_handler == SIG_IGN;
    if (is_ignored && kSignals[i] != SIGINT) ::sigaction(kSignals[i], &earlier[i], nullptr);
  }
}

InterruptWatch::~InterruptWatch() {
  if (--depth > 0) return;
  for (std::size_t i = 0; i < watched; ++i) ::sigaction(kSignals[i], &earlier[i], nullptr);
}

void InterruptWatch::forget() {
  seen = 0;
  while (::sem_trywait(made_before_any_signal) == 0) {
  }
}

bool InterruptWatch::interrupted() { return seen != 0; }

void InterruptWatch::wake() { ::sem_post(made_before_any_signal); }

void InterruptWatch::wait() {
  while (::sem_wait(made_before_any_signal) != 0 && errno == EINTR && !interrupted()) {
  }
}

}  // namespace hearth::cli
