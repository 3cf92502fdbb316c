// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "base/temporary_directory.h"
#include "base/testing/faulty_files.h"
#include "lab/machine/processes.h"

namespace hearth::lab {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A child that waits to be ended; gone with this object.
class Sleeper {
 public:
  Sleeper() : pid_{::fork()} {
    if (pid_ != 0) return;
    ::setpgid(0, 0);
    ::pause();
    ::_exit(0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  bool is_running() const { return !start_time_of(pid_).empty(); }

 private:
  pid_t pid_;
};

Undo end_of(const Sleeper& sleeper) {
  return {Undo::Kind::kEndProcess, std::to_string(sleeper.pid()), start_time_of(sleeper.pid())};
}

class JournalTest : public ::testing::Test {
 protected:
  std::string make_tree(const std::string& name) {
    const std::string path = directory_ / (".lab-" + name);
    fs::create_directories(path + "/inner");
    std::ofstream{path + "/inner/file"} << "x";
    return path;
  }
  Result<Journal> open() { return Journal::open(Files::real(), journals_); }
  bool has_journals() const { return fs::exists(journals_) && !fs::is_empty(journals_); }

  TemporaryDirectory directory_;
  std::string journals_ = directory_ / "state/lab";
};

TEST_F(JournalTest, PutsBackNewestFirstAndGoes) {
  auto journal = open();
  ASSERT_TRUE(journal) << journal.error().message();
  const std::string tree = make_tree("made");
  // If the outer one went first, the inner one would say that there was nothing left.
  ASSERT_TRUE(journal->add({Undo::Kind::kRemoveTree, tree, ""}));
  fs::create_directories(tree + "/.lab-inner");
  ASSERT_TRUE(journal->add({Undo::Kind::kRemoveTree, tree + "/.lab-inner", ""}));
  EXPECT_TRUE(has_journals());
  EXPECT_THAT(journal->put_back(), IsEmpty());
  EXPECT_FALSE(fs::exists(tree));
  EXPECT_FALSE(has_journals());
}

TEST_F(JournalTest, RemovesTheTreesThatItMade) {
  auto journal = open();
  fs::create_directories(directory_ / "out/servers");
  std::ofstream{directory_ / "out/servers/mine"} << "x";
  const auto tree = journal->make_tree(directory_ / "out");
  ASSERT_TRUE(tree) << tree.error().message();
  std::ofstream{*tree + "/file"} << "x";
  EXPECT_NE(*tree, journal->make_tree(directory_ / "out").value());
  EXPECT_FALSE(journal->make_tree(directory_ / "nowhere"));
  EXPECT_THAT(journal->put_back(), IsEmpty());
  EXPECT_FALSE(fs::exists(*tree));
  EXPECT_TRUE(fs::exists(directory_ / "out/servers/mine"));
}

TEST_F(JournalTest, EndsTheServersThatItNames) {
  auto journal = open();
  const Sleeper server;
  ASSERT_TRUE(journal->add(end_of(server)));
  EXPECT_THAT(journal->put_back(), IsEmpty());
  EXPECT_FALSE(server.is_running());
}

TEST_F(JournalTest, SparesAProcessThatHasTheNumberByChance) {
  auto journal = open();
  const Sleeper stranger;
  Undo undo = end_of(stranger);
  undo.detail = "1";
  ASSERT_TRUE(journal->add(undo));
  undo.detail.clear();
  ASSERT_TRUE(journal->add(undo));
  journal->put_back();
  EXPECT_TRUE(stranger.is_running());
}

TEST_F(JournalTest, TellsWhatFailsAndGoesOn) {
  auto journal = open();
  const std::string tree = make_tree("made");
  ASSERT_TRUE(journal->add({Undo::Kind::kRemoveTree, tree, ""}));
  ASSERT_TRUE(journal->add({Undo::Kind::kRemoveTree, "/", ""}));
  ASSERT_TRUE(journal->add({Undo::Kind::kRemoveTree, directory_ / "a/../..", ""}));
  ASSERT_TRUE(journal->add({Undo::Kind::kRemoveTree, tree + "/inner", ""})) << "no name of ours";
  ASSERT_TRUE(journal->add({Undo::Kind::kRemoveGroup, tree, ""}));
  EXPECT_EQ(journal->put_back().size(), 4U);
  EXPECT_FALSE(fs::exists(tree));
}

TEST_F(JournalTest, OfAWriterThatLivesIsLeftAlone) {
  const auto journal = open();
  EXPECT_THAT(Journal::put_back_stale(Files::real(), journals_), IsEmpty());
  EXPECT_TRUE(has_journals());
  const auto second = open();
  EXPECT_TRUE(second) << "two of one process";
}

// What kill -9 leaves: nobody who would put anything back.
TEST_F(JournalTest, OfAWriterThatWasKilledIsPutBack) {
  const std::string tree = make_tree("made");
  const Sleeper server;
  const pid_t lab = ::fork();
  if (lab == 0) {
    auto journal = open();
    if (!journal || !journal->add({Undo::Kind::kRemoveTree, tree, ""})) ::_exit(1);
    if (!journal->add(end_of(server))) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(lab, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(Journal::put_back_stale(Files::real(), journals_),
              ElementsAre(HasSubstr("ended process"), HasSubstr("removed")));
  EXPECT_FALSE(server.is_running());
  EXPECT_FALSE(fs::exists(tree));
  EXPECT_FALSE(has_journals());
}

TEST_F(JournalTest, IgnoresALastLineThatWasCutOff) {
  fs::create_directories(journals_);
  const std::string tree = make_tree("made");
  fs::create_directories(tree + "/.lab-inner");
  std::ofstream{journals_ + "/1-2-0.undo"} << R"({"kind":"remove_tree","subject":")" << tree
                                           << "/.lab-inner\",\"detail\":\"\"}\n"
                                           << "garbage\n"
                                           << R"({"kind":"remove_tree","subject":")" << tree;
  EXPECT_EQ(Journal::put_back_stale(Files::real(), journals_).size(), 1U);
  EXPECT_TRUE(fs::exists(tree));
  EXPECT_FALSE(fs::exists(tree + "/.lab-inner"));
}

// What could not be written down is not done; what was before stays whole.
TEST_F(JournalTest, SaysThatTheDiskIsFull) {
  fs::create_directories(directory_ / "grave");
  hearth::testing::FaultyFiles files{1, directory_ / "grave"};
  const std::string tree = make_tree("made");
  {
    auto journal = Journal::open(files, journals_);
    ASSERT_TRUE(journal) << journal.error().message();
    ASSERT_TRUE(journal->add({Undo::Kind::kRemoveTree, tree, ""}));
    files.set_room(Bytes{5});
    const Result<> added = journal->add({Undo::Kind::kRemoveTree, directory_ / "other", ""});
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code(), ErrorCode::kNoSpace);
  }
  EXPECT_THAT(Journal::put_back_stale(Files::real(), journals_), ElementsAre(HasSubstr("removed")));
}

TEST_F(JournalTest, ReadsAFileBackThatIsStillThere) {
  auto journal = open();
  std::ofstream{directory_ / "model"} << std::string(1 << 20, 'x');
  ASSERT_TRUE(journal->add({Undo::Kind::kReadBack, directory_ / "model", "0.5"}));
  ASSERT_TRUE(journal->add({Undo::Kind::kReadBack, directory_ / "gone", "1"}));
  EXPECT_THAT(journal->put_back(), IsEmpty());
}

TEST(JournalDirectory, FollowsTheUsersState) {
  ::setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(Journal::usual_directory(), "/state/hearth/lab");
  ::setenv("XDG_STATE_HOME", "relative", 1);
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(Journal::usual_directory(), "/home/me/.local/state/hearth/lab");
  ::unsetenv("XDG_STATE_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(Journal::usual_directory(), "/var/lib/hearth/lab");
}

}  // namespace
}  // namespace hearth::lab
