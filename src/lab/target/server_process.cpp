// SPDX-License-Identifier: Apache-2.0
#include "lab/target/server_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/process.h"
#include "lab/machine/processes.h"

extern char** environ;

namespace hearth::lab {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr milliseconds kLook{5};

bool configures_a_server(std::string_view variable) {
  for (const char* prefix :
       {"HEARTH_", "OLLAMA_", "LLAMA_", "HF_", "HUGGING", "XDG_", "NOTIFY_", "LISTEN_"}) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<std::string> environment_of(const std::map<std::string, std::string>& settings) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable{*entry};
    const std::string name{variable.substr(0, variable.find('='))};
    if (!configures_a_server(variable) && !settings.contains(name))
      environment.emplace_back(*entry);
  }
  for (const auto& [name, value] : settings) environment.push_back(name + '=' + value);
  return environment;
}

std::vector<char*> as_c_strings(const std::vector<std::string>& strings) {
  std::vector<char*> raw;
  for (const std::string& s : strings) raw.push_back(const_cast<char*>(s.c_str()));
  raw.push_back(nullptr);
  return raw;
}

// Only what is safe between fork and exec of a process that may have threads. It waits for a byte:
// the journal knows it by then; at end of file whoever forked it is gone.
[[noreturn]] void become(char* const* argv, char* const* environment, int log, int control) {
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) ::signal(ending, SIG_DFL);
  char go = 0;
  if (::read(control, &go, 1) != 1) ::_exit(127);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execve(argv[0], argv, environment);
  const int why = errno;
  static_cast<void>(!::write(control, &why, sizeof why));
  ::_exit(127);
}

// Lets the child go. 0, or why it did not become the program.
int let_go(const Fd& control) {
  static_cast<void>(!::write(control.get(), "g", 1));
  int why = 0;
  return ::read(control.get(), &why, sizeof why) == sizeof why ? why : 0;
}

}  // namespace

Result<std::unique_ptr<ServerProcess>> ServerProcess::run(const Launch& launch) {
  const Fd log{::open(launch.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
  if (!log) return fail_errno("open " + launch.log, errno);
  const off_t log_begin = ::lseek(log.get(), 0, SEEK_END);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_errno("socketpair", errno);
  }
  const Fd ours{ends[0]};
  Fd theirs{ends[1]};
  const std::vector<std::string> variables = environment_of(launch.settings);
  const std::vector<char*> environment = as_c_strings(variables);
  const std::vector<char*> argv = as_c_strings(launch.argv);
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork", errno);
  if (pid == 0) {
    ::close(ours.get());
    become(argv.data(), environment.data(), log.get(), theirs.get());
  }
  theirs.reset();
  ::setpgid(pid, pid);
  std::unique_ptr<ServerProcess> process{new ServerProcess{
      pid, launch.log, static_cast<std::uint64_t>(std::max<off_t>(0, log_begin))}};
  if (launch.journal != nullptr) {
    const Result<> noted =
        launch.journal->add({Undo::Kind::kEndProcess, std::to_string(pid), start_time_of(pid)});
    if (!noted) return Failed{noted.error()};
  }
  if (const int why = let_go(ours); why != 0) return fail_errno("run " + launch.argv[0], why);
  return process;
}

ServerProcess::~ServerProcess() { stop(std::chrono::seconds{10}); }

bool ServerProcess::reap(milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  while (!reaped_) {
    siginfo_t end{};
    const int looked = ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT);
    if (looked == 0 && end.si_pid == pid_) {
      // Of one that crashed, children may be left that nobody knows but by their group. Until it
      // is reaped the group's number is nobody else's.
      ::kill(-pid_, SIGKILL);
      reaped_ = ::waitpid(pid_, &status_, 0) == pid_;
    } else if (looked < 0 && errno == ECHILD) {
      reaped_ = true;
    } else if (steady_clock::now() >= deadline) {
      return false;
    } else {
      std::this_thread::sleep_for(kLook);
    }
  }
  return true;
}

std::vector<pid_t> ServerProcess::tree() const {
  return reaped_ ? std::vector<pid_t>{} : process_tree(pid_);
}

std::string ServerProcess::output() const {
  std::ifstream log{log_};
  log.seekg(static_cast<std::streamoff>(log_begin_));
  std::ostringstream text;
  text << log.rdbuf();
  return text.str();
}

std::string ServerProcess::last_words() {
  std::string how = "it runs";
  if (reap(milliseconds{0})) {
    const ExitStatus exit = WIFSIGNALED(status_) ? ExitStatus{0, WTERMSIG(status_)}
                                                 : ExitStatus{WEXITSTATUS(status_), 0};
    how = describe(exit);
  }
  std::string text = output();
  constexpr std::size_t kMost = 600;
  if (text.size() > kMost) text = "..." + text.substr(text.size() - kMost);
  return fmt::format("{}; it printed to {}: {}", how, log_, text.empty() ? "nothing" : text);
}

void ServerProcess::stop(milliseconds grace) {
  if (std::exchange(stopped_, true)) return;
  std::vector<std::pair<pid_t, std::string>> all;
  for (const pid_t pid : tree()) all.emplace_back(pid, start_time_of(pid));
  if (!reaped_) ::kill(pid_, SIGTERM);
  if (!reap(grace)) {
    ::kill(-pid_, SIGKILL);
    reap(std::chrono::seconds{30});
  }
  // Children see their parent's end and leave by themselves.
  const auto remains = [](const auto& process) {
    return start_time_of(process.first) == process.second;
  };
  const auto deadline = steady_clock::now() + std::chrono::seconds{3};
  while (std::ranges::any_of(all, remains) && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kLook);
  }
  for (const auto& process : all) {
    if (remains(process)) ::kill(process.first, SIGKILL);
  }
}

Result<std::string> run_to_end(const Launch& launch, std::chrono::seconds patience) {
  auto process = ServerProcess::run(launch);
  if (!process) return Failed{std::move(process).error()};
  const auto deadline = steady_clock::now() + patience;
  while (!(*process)->reap(milliseconds{100}) && steady_clock::now() < deadline) {
    if (launch.stop && launch.stop()) return fail(ErrorCode::kCancelled, "interrupted");
  }
  if (!(*process)->succeeded()) {
    return fail(ErrorCode::kUnavailable, launch.argv[0] + ": " + (*process)->last_words());
  }
  return (*process)->output();
}

Result<std::string> find_program(const std::string& name) {
  std::vector<std::string> places;
  if (name.find('/') != std::string::npos) {
    places.push_back(fs::absolute(name).string());
  } else {
    const char* path = std::getenv("PATH");
    std::istringstream folders{path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path};
    for (std::string folder; std::getline(folders, folder, ':');) {
      places.push_back(folder + '/' + name);
    }
  }
  for (const std::string& place : places) {
    if (::access(place.c_str(), X_OK) == 0 && fs::is_regular_file(place)) return place;
  }
  return fail(ErrorCode::kNotFound, name + ": there is no such program");
}

}  // namespace hearth::lab
