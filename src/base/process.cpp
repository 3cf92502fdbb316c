// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hearth {
namespace {

std::vector<char*> as_c_strings(const std::vector<std::string>& strings) {
  std::vector<char*> raw;
  raw.reserve(strings.size() + 1);
  for (const std::string& s : strings) raw.push_back(const_cast<char*>(s.c_str()));
  raw.push_back(nullptr);
  return raw;
}

// True once `fd` is readable; false when `limit` has passed. A signal does not shorten the wait.
bool readable_within(int fd, std::chrono::milliseconds limit) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + limit;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    pollfd waited{fd, POLLIN, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(std::max<long>(0, left)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// What posix_spawn wants to know about the child, freed with this object.
class SpawnPlan {
 public:
  explicit SpawnPlan(int child_control) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, child_control, kChildControlFd);
    // Whatever our own parent or a library left open without CLOEXEC is none of the child's
    // business.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, kChildControlFd + 1);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    // A group of its own: ^C in the terminal reaches the parent only.
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

class RealProcess : public Process {
 public:
  RealProcess(pid_t pid, Fd pidfd, Fd control)
      : pid_{pid}, pidfd_{std::move(pidfd)}, control_{std::move(control)} {}
  ~RealProcess() override {
    constexpr std::chrono::milliseconds kGrace{200};
    RealProcess::stop(kGrace);
  }
  RealProcess(const RealProcess&) = delete;
  RealProcess& operator=(const RealProcess&) = delete;

  pid_t pid() const override { return pid_; }
  int pidfd() const override { return pidfd_.get(); }
  int control() const override { return control_.get(); }

  void kill() override {
    if (!reaped_) ::kill(pid_, SIGKILL);
  }

  ExitStatus stop(std::chrono::milliseconds grace) override {
    if (reaped_) return status_;
    control_.reset();
    if (!readable_within(pidfd_.get(), grace)) ::kill(pid_, SIGKILL);
    int raw = 0;
    while (::waitpid(pid_, &raw, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    if (WIFSIGNALED(raw)) {
      status_.signal = WTERMSIG(raw);
    } else {
      status_.code = WEXITSTATUS(raw);
    }
    return status_;
  }

 private:
  const pid_t pid_;
  bool reaped_ = false;
  Fd pidfd_;
  Fd control_;
  ExitStatus status_;
};

class RealProcesses : public Processes {
 public:
  Result<std::unique_ptr<Process>> spawn(const ProcessSpec& spec) override {
    if (spec.argv.empty()) return fail(ErrorCode::kNotFound, "spawn: no program was named");
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return fail_errno("socketpair", errno);
    }
    Fd ours{ends[0]};
    Fd theirs{ends[1]};
    // dup2 of a descriptor onto itself would keep CLOEXEC, so move it out of the way first.
    if (theirs.get() == kChildControlFd) {
      theirs = Fd{::fcntl(theirs.get(), F_DUPFD_CLOEXEC, kChildControlFd + 1)};
      if (!theirs) return fail_errno("dup control socket", errno);
    }
    const SpawnPlan plan{theirs.get()};
    std::vector<char*> args = as_c_strings(spec.argv);
    std::vector<char*> environment = as_c_strings(spec.environment);
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, args[0], plan.actions(), plan.attributes(), args.data(),
                                     environment.data());
    if (error != 0) return fail_errno("spawn " + spec.argv[0], error);
    return adopt(pid, std::move(ours));
  }

 private:
  static Result<std::unique_ptr<Process>> adopt(pid_t pid, Fd control) {
    // No race with reuse of the pid: nobody but us can reap this child.
    Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (!pidfd) {
      const int why = errno;
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      return fail_errno("pidfd_open", why);
    }
    return std::unique_ptr<Process>{
        std::make_unique<RealProcess>(pid, std::move(pidfd), std::move(control))};
  }
};

}  // namespace

std::string describe(const ExitStatus& status) {
  if (status.signal != 0) {
    return "signal " + std::to_string(status.signal) + " (" + ::strsignal(status.signal) + ")";
  }
  return "exit code " + std::to_string(status.code);
}

Processes& Processes::real() {
  static RealProcesses processes;
  return processes;
}

}  // namespace hearth
