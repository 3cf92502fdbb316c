// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/temporary_directory.h"

namespace hearth {
namespace {

class FilesTest : public testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& text) {
    const std::string path = directory_ / name;
    std::ofstream{path} << text;
    return path;
  }
  TemporaryDirectory directory_;
  const Files& files_ = Files::real();
};

TEST_F(FilesTest, ReadsFromAnOffset) {
  const std::string path = make("a", "hello world");
  const auto file = files_.open_read(path);
  ASSERT_TRUE(file) << file.error().message();
  std::array<std::byte, 8> into{};
  ASSERT_EQ(files_.read_at(*file, 6, into), 5U);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(into.data()), 5), "world");
  EXPECT_EQ(files_.read_at(*file, 100, into), 0U);
}

TEST_F(FilesTest, InfoTellsVersionsApart) {
  const std::string path = make("a", "1234");
  const auto first = files_.info(path);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, FileKind::kRegular);
  EXPECT_EQ(first->size, Bytes{4});
  const auto file = files_.open_read(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(*files_.info(*file), *first);
  make("a", "12345");
  EXPECT_NE(*files_.info(path), *first);
  EXPECT_EQ(files_.info(directory_.path())->kind, FileKind::kDirectory);
  EXPECT_EQ(files_.info("/dev/null")->kind, FileKind::kOther);
}

TEST_F(FilesTest, MissingIsNotFound) {
  const std::string path = directory_ / "none";
  EXPECT_EQ(files_.open_read(path).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(files_.info(path).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(files_.real_path(path).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(files_.list(path).error().code(), ErrorCode::kNotFound);
}

TEST_F(FilesTest, OpeningAFifoDoesNotWait) {
  const std::string path = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(files_.open_read(path));
}

TEST_F(FilesTest, ListsInOrder) {
  make("b", "");
  make("a", "");
  make(".c", "");
  EXPECT_EQ(files_.list(directory_.path()).value(), (std::vector<std::string>{".c", "a", "b"}));
}

TEST_F(FilesTest, ResolvesLinks) {
  const std::string path = make("a", "");
  ASSERT_EQ(::symlink(path.c_str(), (directory_ / "link").c_str()), 0);
  EXPECT_EQ(files_.real_path(directory_ / "link").value(), files_.real_path(path).value());
}

TEST_F(FilesTest, MakesParentsWithTheirMode) {
  const std::string path = directory_ / "x/y/z";
  ASSERT_TRUE(files_.make_directories(path, 0700));
  ASSERT_TRUE(files_.make_directories(path, 0700)) << "twice is fine";
  ASSERT_TRUE(files_.make_directories(path + "/", 0700));
  struct stat status{};
  ASSERT_EQ(::stat((directory_ / "x").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(FilesTest, AFileInTheWayOfADirectoryIsAnError) {
  const std::string path = make("a", "");
  EXPECT_FALSE(files_.make_directories(path, 0700));
  EXPECT_FALSE(files_.make_directories(path + "/b", 0700));
  EXPECT_FALSE(files_.make_directories("", 0700));
}

TEST_F(FilesTest, SmallFileIsEmptyWhenItCannotBeRead) {
  EXPECT_EQ(read_small_file(make("a", "x\ny")), "x\ny");
  EXPECT_EQ(read_small_file(directory_ / "none"), "");
  EXPECT_EQ(read_small_file(directory_.path()), "");
  EXPECT_FALSE(read_small_file("/proc/self/stat").empty());
}

}  // namespace
}  // namespace hearth
