// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"

namespace hearth {
namespace {

using namespace std::chrono_literals;

ProcessSpec shell(const std::string& script) {
  return {{"sh", "-c", script}, {"PATH=/usr/bin:/bin"}};
}

std::unique_ptr<Process> spawn(const ProcessSpec& spec) {
  auto process = Processes::real().spawn(spec);
  if (!process) {
    ADD_FAILURE() << process.error().message();
    return nullptr;
  }
  return *std::move(process);
}

bool is_gone(pid_t pid) {
  return ::waitpid(pid, nullptr, WNOHANG) == -1 && errno == ECHILD && ::kill(pid, 0) == -1 &&
         errno == ESRCH;
}

void wait_for_exit(const Process& process) {
  pollfd waited{process.pidfd(), POLLIN, 0};
  ASSERT_EQ(::poll(&waited, 1, 30'000), 1);
}

TEST(Process, LeavesOnEndOfControl) {
  const auto process = spawn(shell("cat <&3 >/dev/null; exit 7"));
  const ExitStatus status = process->stop(30s);
  EXPECT_EQ(status.code, 7);
  EXPECT_EQ(status.signal, 0);
  EXPECT_EQ(process->stop(30s).code, 7) << "a second stop says the same";
}

TEST(Process, ControlCarriesBytesBothWays) {
  const auto process = spawn(shell("head -c 3 <&3 >&3"));
  ASSERT_EQ(::write(process->control(), "abc", 3), 3);
  char answer[4] = {};
  ASSERT_EQ(::read(process->control(), answer, 3), 3);
  EXPECT_STREQ(answer, "abc");
}

TEST(Process, IsKilledWhenItWillNotLeave) {
  const auto process = spawn({{"sleep", "1000"}, {}});
  const ExitStatus status = process->stop(20ms);
  EXPECT_EQ(status.signal, SIGKILL);
  EXPECT_EQ(describe(status), "signal 9 (Killed)");
  EXPECT_EQ(describe({3, 0}), "exit code 3");
}

TEST(Process, PidfdIsReadableOnceItWasKilled) {
  const auto process = spawn({{"sleep", "1000"}, {}});
  process->kill();
  wait_for_exit(*process);
  EXPECT_EQ(process->stop(0ms).signal, SIGKILL);
  process->kill();
}

TEST(Process, ExitOfItsOwnIsReported) {
  const auto process = spawn(shell("exit 3"));
  wait_for_exit(*process);
  EXPECT_EQ(process->stop(0ms).code, 3);
}

TEST(Process, DestructorLeavesNeitherProcessNorZombie) {
  for (const char* script : {"cat <&3 >/dev/null", "exec sleep 1000", "exit 0"}) {
    auto process = spawn(shell(script));
    const pid_t pid = process->pid();
    process.reset();
    EXPECT_TRUE(is_gone(pid)) << script;
  }
}

TEST(Process, SurvivesBeingMoved) {
  auto process = spawn({{"sleep", "1000"}, {}});
  const pid_t pid = process->pid();
  std::unique_ptr<Process> moved = std::move(process);
  process.reset();
  EXPECT_EQ(::kill(pid, 0), 0) << "moving must not end it";
  moved = spawn(shell("exit 0"));
  EXPECT_TRUE(is_gone(pid)) << "assigning over it must";
}

TEST(Process, FailureToSpawnNamesTheProgram) {
  const auto process = Processes::real().spawn({{"/no/such/program", "x"}, {}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(process.error().message().find("/no/such/program"), std::string::npos);
  EXPECT_FALSE(Processes::real().spawn({{}, {}}));
}

TEST(Process, EnvironmentIsExactlyWhatWasGiven) {
  ASSERT_EQ(::setenv("HEARTH_TEST_SECRET", "x", 1), 0);
  // The child says it: seen from outside, a program that has just begun has none yet.
  const ProcessSpec spec{{"/bin/sh", "-c", "/bin/cat /proc/$$/environ >&3"},
                         {"A=1", "B=two words"}};
  const auto process = spawn(spec);
  std::string environment;
  char some[256];
  for (ssize_t n; (n = ::read(process->control(), some, sizeof some)) > 0;) {
    environment.append(some, static_cast<std::size_t>(n));
  }
  EXPECT_EQ(environment, std::string("A=1\0B=two words\0", 16));
}

TEST(Process, InheritsOnlyStandardStreamsAndControl) {
  const auto process = spawn({{"sleep", "1000"}, {}});
  const auto open = Files::real().list("/proc/" + std::to_string(process->pid()) + "/fd");
  EXPECT_EQ(open.value(), (std::vector<std::string>{"0", "1", "2", "3"}));
}

}  // namespace
}  // namespace hearth
