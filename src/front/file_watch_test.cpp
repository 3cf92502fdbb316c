// SPDX-License-Identifier: Apache-2.0
#include "front/file_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/sim_event_loop.h"
#include "base/temporary_directory.h"

namespace hearth::front {
namespace {

namespace fs = std::filesystem;

void write_file(const std::string& path, const std::string& content) {
  std::ofstream{path, std::ios::binary} << content;
}

// A file system that has no notices to give, as NFS.
class Silent : public FileNotices {
 public:
  News take() override { return {}; }
  bool tells_all() const override { return false; }
};
std::unique_ptr<FileNotices> silent(const std::vector<Fd>&) { return std::make_unique<Silent>(); }

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() { write_file(path_, "what was there at first"); }

  std::shared_ptr<FileWatch> watch(const OpenNotices& notices) {
    Result<WatchedFiles> opened = open_watched(Files::real(), {path_}, {}, notices);
    EXPECT_TRUE(opened);
    return opened->watch;
  }

  static Task<void> check_into(EventLoop& loop, Pool& pool, std::shared_ptr<FileWatch> watch,
                               Result<>& result) {
    result = co_await FileWatch::check(std::move(watch), loop, pool);
  }
  // What a reply that ends now is told.
  bool right(const std::shared_ptr<FileWatch>& watch) {
    Result<> result;
    loop_.spawn(check_into(loop_, pool_, watch, result));
    loop_.run_ready();
    return result.has_value();
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/model.gguf";
  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
};

struct Change {
  const char* name;
  std::function<void(const std::string& path)> make;
  bool right;    // a reply that is under way may end well
  bool trusted;  // and the next may begin without a look
};

class FileChanges : public FileWatchTest, public ::testing::WithParamInterface<Change> {};

TEST_P(FileChanges, AreToldAtOnce) {
  const std::shared_ptr<FileWatch> watched = watch(kernel_notices);
  ASSERT_TRUE(watched->trusted());
  GetParam().make(path_);
  EXPECT_EQ(watched->trusted(), GetParam().trusted);
  EXPECT_EQ(right(watched), GetParam().right);
}

// Both times, as touch(1) sets them.
void touch(const std::string& path) {
  EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), nullptr, 0), 0);
}
void overwrite(const std::string& path) {
  std::fstream{path, std::ios::in | std::ios::out | std::ios::binary} << "W";
}
void replace(const std::string& path) {
  write_file(path + ".new", "another model, of any size");
  fs::rename(path + ".new", path);
}

INSTANTIATE_TEST_SUITE_P(
    All, FileChanges,
    ::testing::Values(
        Change{"Nothing", [](const std::string&) {}, true, true},
        Change{"Reading", [](const std::string& path) { std::ifstream{path}.get(); }, true, true},
        Change{"Cut", [](const std::string& path) { fs::resize_file(path, 4); }, false, false},
        Change{"Overwritten", overwrite, false, false},
        Change{"WrittenWithItsOldTime",
               [](const std::string& path) {
                 const auto time = fs::last_write_time(path);
                 overwrite(path);
                 fs::last_write_time(path, time);
               },
               false, false},
        Change{"Replaced", replace, true, false},
        Change{"Removed", [](const std::string& path) { fs::remove(path); }, true, false},
        Change{"Moved", [](const std::string& path) { fs::rename(path, path + ".old"); }, true,
               false},
        Change{"Touched", touch, true, false},
        // The kernel tells this as it tells a write.
        Change{"GivenAnotherTimeOfWriting",
               [](const std::string& path) { fs::last_write_time(path, fs::file_time_type{}); },
               false, false},
        Change{"Linked", [](const std::string& path) { fs::create_hard_link(path, path + ".too"); },
               true, false}),
    [](const auto& test) { return test.param.name; });

TEST_F(FileWatchTest, SeesWhatIsWrittenToAFileThatLostItsName) {
  const std::shared_ptr<FileWatch> watched = watch(kernel_notices);
  fs::rename(path_, path_ + ".old");
  write_file(path_, "another");
  EXPECT_TRUE(right(watched));
  overwrite(path_ + ".old");
  EXPECT_FALSE(right(watched));
}

TEST_F(FileWatchTest, TrustsAgainAfterALook) {
  const std::shared_ptr<FileWatch> watched = watch(kernel_notices);
  touch(path_);
  const std::uint64_t before = watched->renames();
  EXPECT_FALSE(watched->trusted());
  watched->trust(before);
  EXPECT_TRUE(watched->trusted());
}

TEST_F(FileWatchTest, WhatHappensDuringALookIsNotTrusted) {
  const std::shared_ptr<FileWatch> watched = watch(kernel_notices);
  const std::uint64_t before = watched->renames();
  touch(path_);
  watched->trust(before);
  EXPECT_FALSE(watched->trusted());
}

// As while a write is under way, or when it goes through a mapping.
class Late : public FileNotices {
 public:
  News take() override { return {}; }
  bool tells_all() const override { return true; }
};

TEST_F(FileWatchTest, SeesAWriteThatIsNotToldYet) {
  const std::shared_ptr<FileWatch> watched =
      watch([](const std::vector<Fd>&) { return std::make_unique<Late>(); });
  EXPECT_TRUE(right(watched));
  fs::resize_file(path_, 4);
  EXPECT_FALSE(right(watched));
}

TEST_F(FileWatchTest, LooksWhereNothingIsTold) {
  const std::shared_ptr<FileWatch> watched = watch(silent);
  EXPECT_FALSE(watched->trusted());
  EXPECT_TRUE(right(watched));
  replace(path_);  // the open file is the old one
  EXPECT_TRUE(right(watched));
}

TEST_F(FileWatchTest, FindsAWriteWhereNothingIsTold) {
  const std::shared_ptr<FileWatch> watched = watch(silent);
  fs::resize_file(path_, 4);
  EXPECT_FALSE(right(watched));
  write_file(path_, "what was there at first");
  EXPECT_FALSE(right(watched));  // for good
}

TEST_F(FileWatchTest, TakesNoOtherFileThanTheKnownOne) {
  const FileInfo known = *Files::real().info(path_);
  EXPECT_TRUE(open_watched(Files::real(), {path_}, {known}, kernel_notices));
  replace(path_);
  const auto opened = open_watched(Files::real(), {path_}, {known}, kernel_notices);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(open_watched(Files::real(), {path_}, {FileInfo{}}, kernel_notices));
}

TEST_F(FileWatchTest, FailsForAFileThatIsNotThere) {
  const auto opened = open_watched(Files::real(), {path_ + ".not"}, {}, kernel_notices);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hearth::front
