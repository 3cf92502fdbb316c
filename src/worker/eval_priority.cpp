// SPDX-License-Identifier: Apache-2.0
#include "worker/eval_priority.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/fd.h"
#include "base/files.h"
#include "base/log.h"

namespace hearth::worker {
namespace {

constexpr const char* kAutogroup = "/proc/self/autogroup";

// 0, or why not.
int set_of_session(int nice) {
  if (!read_small_file("/proc/sys/kernel/sched_autogroup_enabled").starts_with('1')) return 0;
  // The leader of a process group, as the front starts a worker, must leave it first.
  if (::getsid(0) != ::getpid() && ::getpgrp() == ::getpid()) {
    (void)::setpgid(0, ::getpgid(::getppid()));
  }
  if (::getsid(0) != ::getpid() && ::setsid() < 0) return errno;
  const Fd file{::open(kAutogroup, O_WRONLY | O_CLOEXEC)};
  if (!file) return errno;
  const std::string text = fmt::format("{}", nice);
  return ::write(file.get(), text.data(), text.size()) < 0 ? errno : 0;
}

void log_refusal(int nice, int error) {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  log::warn("worker_nice_refused",
            {{"nice", nice},
             {"error", std::strerror(error)},
             {"fix", fmt::format("LimitNICE={} in the service's unit, or run `setcap "
                                 "cap_sys_nice+ep` on hearth-worker",
                                 nice)}});
}

}  // namespace

int set_priority(std::span<const pid_t> threads, int nice) {
  int refused = 0;
  for (const pid_t id : threads) {
    if (::setpriority(PRIO_PROCESS, static_cast<id_t>(id), nice) != 0 && errno != ESRCH) {
      refused = errno;
    }
  }
  if (refused == 0) refused = set_of_session(nice);
  if (refused != 0) log_refusal(nice, refused);
  return threads.empty() ? 0 : ::getpriority(PRIO_PROCESS, static_cast<id_t>(threads.front()));
}

}  // namespace hearth::worker
