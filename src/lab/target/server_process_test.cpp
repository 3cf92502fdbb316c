// SPDX-License-Identifier: Apache-2.0
#include "lab/target/server_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/files.h"
#include "base/temporary_directory.h"
#include "lab/machine/processes.h"
#include "lab/target/fake_server.h"
#include "lab/target/process_view.h"

namespace hearth::lab {
namespace {

using namespace std::chrono_literals;

class ServerProcessTest : public testing::Test {
 protected:
  Launch shell(const std::string& script) const {
    return {{"/bin/sh", "-c", script}, {{"LAB", "yes"}}, folder_ / "log", nullptr};
  }

  TemporaryDirectory folder_;
};

TEST_F(ServerProcessTest, PrintsIntoItsLogAndEnds) {
  const auto said = run_to_end(shell("echo $LAB; echo no >&2"), 10s);
  ASSERT_TRUE(said.has_value()) << said.error().message();
  EXPECT_EQ(*said, "yes\nno\n");
}

TEST_F(ServerProcessTest, OutputBeginsWithThisRun) {
  ASSERT_TRUE(run_to_end(shell("echo before"), 10s).has_value());
  EXPECT_EQ(run_to_end(shell("echo after"), 10s).value_or(""), "after\n");
}

TEST_F(ServerProcessTest, SaysHowItEnded) {
  const auto said = run_to_end(shell("echo oh; exit 3"), 10s);
  ASSERT_FALSE(said.has_value());
  EXPECT_NE(said.error().message().find("exit code 3"), std::string::npos);
  EXPECT_NE(said.error().message().find("oh"), std::string::npos);
}

TEST_F(ServerProcessTest, NoSuchProgram) {
  const auto process = ServerProcess::run({{"/nonexistent/server"}, {}, folder_ / "log", nullptr});
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().code(), ErrorCode::kNotFound);
}

TEST_F(ServerProcessTest, ForeignSettingsStayOutside) {
  ::setenv("OLLAMA_MODELS", "/models", 1);
  const auto said = run_to_end(shell("echo \"<$OLLAMA_MODELS>\""), 10s);
  ::unsetenv("OLLAMA_MODELS");
  EXPECT_EQ(said.value_or(""), "<>\n");
}

TEST_F(ServerProcessTest, StopEndsChildrenThatStay) {
  auto process = ServerProcess::run(shell("setsid sleep 600 & echo here; wait"));
  ASSERT_TRUE(process.has_value());
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  std::vector<pid_t> tree;
  while (tree.size() < 2 && std::chrono::steady_clock::now() < deadline) {
    tree = (*process)->tree();
  }
  ASSERT_GE(tree.size(), 2U);
  (*process)->stop(5s);
  EXPECT_TRUE((*process)->tree().empty());
  while (!start_time_of(tree.back()).empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(start_time_of(tree.back()), "");
}

// Its group is ended at the moment of its reaping, and not when the number may be another's.
TEST_F(ServerProcessTest, OneThatCrashedTakesItsChildrenAlong) {
  const auto process = ServerProcess::run(shell("sleep 1000 & echo $!; kill -9 $$"));
  ASSERT_TRUE(process.has_value()) << process.error().message();
  ASSERT_TRUE((*process)->reap(10s));
  const int child = std::atoi((*process)->output().c_str());
  ASSERT_GT(child, 1);
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (!start_time_of(child).empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(start_time_of(child), "");
}

TEST_F(ServerProcessTest, OneThatWillNotEndIsKilled) {
  auto process = ServerProcess::run(shell("trap '' TERM; echo here; while :; do sleep 1; done"));
  ASSERT_TRUE(process.has_value());
  while ((*process)->output().empty()) std::this_thread::yield();
  (*process)->stop(50ms);
  EXPECT_FALSE((*process)->is_running());
}

TEST_F(ServerProcessTest, TheJournalKnowsItFirst) {
  auto journal = Journal::open(Files::real(), folder_ / "journal");
  ASSERT_TRUE(journal.has_value());
  Launch launch = shell("cat \"$JOURNALS\"/*");
  launch.settings["JOURNALS"] = folder_ / "journal";
  launch.journal = &*journal;
  const auto said = run_to_end(launch, 10s);
  ASSERT_TRUE(said.has_value()) << said.error().message();
  EXPECT_FALSE(said->empty());
  journal->put_back();
}

TEST(FindProgram, ByPathAndByName) {
  EXPECT_EQ(find_program("/bin/sh").value_or(""), "/bin/sh");
  EXPECT_TRUE(find_program("sh").has_value());
  EXPECT_FALSE(find_program("/etc").has_value());
  EXPECT_EQ(find_program("no-such-program-here").error().code(), ErrorCode::kNotFound);
}

TEST(ProcessView, FindsWhoListens) {
  const FakeServer server{[](const std::string&, const FakeServer::Connection&) {}};
  const std::vector<std::uint16_t> ports = listening_ports(::getpid());
  EXPECT_NE(std::ranges::find(ports, server.port()), ports.end());
  EXPECT_EQ(listeners(server.port()), std::vector<pid_t>{::getpid()});
  EXPECT_TRUE(listeners(1).empty());
}

TEST(ProcessView, FindsItsOwnProgram) {
  const std::string self = *Files::real().real_path("/proc/self/exe");
  const std::vector<std::string> programs = mapped_files(::getpid(), Mapped::kPrograms);
  EXPECT_NE(std::ranges::find(programs, self), programs.end());
  const std::vector<std::string> data = mapped_files(::getpid(), Mapped::kData);
  EXPECT_EQ(std::ranges::find(data, self), data.end());
}

}  // namespace
}  // namespace hearth::lab
