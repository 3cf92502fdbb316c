// SPDX-License-Identifier: Apache-2.0
#include "base/testing/faulty_files.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/temporary_directory.h"

namespace hearth::testing {
namespace {

std::string text_at(const std::string& path) {
  std::string text = read_small_file(path);
  std::erase(text, '\0');
  return text;
}

Result<> put(const Files& files, const std::string& path, std::string_view text) {
  const Result<Fd> file = files.open_write(path, Files::Create::kIfMissing);
  if (!file) return Failed{file.error()};
  return files.write_at(*file, 0, std::as_bytes(std::span{text}));
}

class FaultyFilesTest : public ::testing::Test {
 protected:
  FaultyFilesTest() { (void)Files::real().make_directories(directory_ / "graves", 0700); }

  // As if it had always been there.
  void lay(const std::string& name, std::string_view text) {
    (void)Files::real().remove(directory_ / name);
    ASSERT_TRUE(put(Files::real(), directory_ / name, text));
  }

  const TemporaryDirectory directory_;
};

TEST_F(FaultyFilesTest, WhatWasNotSyncedMayOrMayNotSurvive) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    lay("file", "old");
    FaultyFiles faulty{seed, directory_ / "graves"};
    ASSERT_TRUE(put(faulty, directory_ / "file", "new"));
    faulty.power_cut();
    seen.insert(text_at(directory_ / "file"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"old", "new"}));
}

TEST_F(FaultyFilesTest, WhatWasSyncedSurvives) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    lay("file", "old");
    FaultyFiles faulty{seed, directory_ / "graves"};
    ASSERT_TRUE(put(faulty, directory_ / "file", "new"));
    ASSERT_TRUE(faulty.sync(*faulty.open_read(directory_ / "file")));
    faulty.power_cut();
    EXPECT_EQ(text_at(directory_ / "file"), "new");
  }
}

TEST_F(FaultyFilesTest, AFailedSyncLosesEvenIfALaterOneDoesNotFail) {
  lay("file", "old");
  FaultyFiles faulty{1, directory_ / "graves"};
  ASSERT_TRUE(put(faulty, directory_ / "file", "new"));
  const Result<Fd> file = faulty.open_read(directory_ / "file");
  faulty.fail_change(1, ErrorCode::kUnavailable);
  EXPECT_FALSE(faulty.sync(*file));
  EXPECT_TRUE(faulty.sync(*file));
  EXPECT_EQ(text_at(directory_ / "file"), "new");
  faulty.drop_cached(*file, 0, Bytes{512});
  EXPECT_EQ(text_at(directory_ / "file"), "old");
}

TEST_F(FaultyFilesTest, NamesComeBackInOrder) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    lay("a", "A");
    lay("b", "B");
    FaultyFiles faulty{seed, directory_ / "graves"};
    ASSERT_TRUE(faulty.rename(directory_ / "a", directory_ / "b"));
    ASSERT_TRUE(faulty.remove(directory_ / "b"));
    faulty.power_cut();
    seen.insert(text_at(directory_ / "a") + "," + text_at(directory_ / "b"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"A,B", ",A", ","}));
}

TEST_F(FaultyFilesTest, SyncedNamesStay) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    lay("a", "A");
    lay("b", "B");
    FaultyFiles faulty{seed, directory_ / "graves"};
    ASSERT_TRUE(faulty.rename(directory_ / "a", directory_ / "b"));
    ASSERT_TRUE(faulty.sync_directory(directory_.path()));
    faulty.power_cut();
    EXPECT_EQ(text_at(directory_ / "b"), "A");
  }
}

TEST_F(FaultyFilesTest, FailsWhereItWasTold) {
  FaultyFiles faulty{1, directory_ / "graves"};
  faulty.fail_change(2, ErrorCode::kNoSpace);
  EXPECT_EQ(put(faulty, directory_ / "file", "new").error().code(), ErrorCode::kNoSpace);
  faulty.set_room(Bytes{2});
  EXPECT_EQ(put(faulty, directory_ / "file", "new").error().code(), ErrorCode::kNoSpace);
  faulty.set_room(Bytes{20});
  EXPECT_TRUE(put(faulty, directory_ / "file", "new"));
  faulty.set_faults({0, 1000});
  EXPECT_EQ(put(faulty, directory_ / "file", "new").error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace hearth::testing
