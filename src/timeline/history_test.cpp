// SPDX-License-Identifier: Apache-2.0
#include "timeline/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace hearth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RequestReport report(const std::string& id, const std::string& model = "tiny",
                     ResponseClass response_class = ResponseClass::kWarm) {
  RequestReport r;
  r.request_id = id;
  r.model = model;
  r.response_class = response_class;
  return r;
}

class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "hearth-history-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path() const { return directory_ + "/history.db"; }

  History opened(HistoryLimits limits = {}) {
    Result<History> history = History::open(path(), limits);
    if (!history) throw std::runtime_error{history.error().message()};
    return std::move(*history);
  }

  static void add(History& history, int from, int to) {
    for (int i = from; i < to; ++i) ASSERT_TRUE(history.add(report(std::to_string(i))));
  }

  static std::vector<std::string> ids(History& history, const HistoryQuery& query) {
    std::vector<std::string> out;
    const auto entries = history.list(query);
    if (!entries) throw std::runtime_error{entries.error().message()};
    for (const std::string& entry : *entries) {
      out.emplace_back(parse_json(entry)->at("request_id").as_string());
    }
    return out;
  }

 private:
  std::string directory_;
};

TEST_F(HistoryTest, KeepsTheWholeEntry) {
  History history = opened();
  ASSERT_TRUE(history.add(report("a")));
  EXPECT_EQ(history.get("a"), to_history_json(report("a")));
  EXPECT_EQ(history.get("b").error().code(), ErrorCode::kNotFound);
}

TEST_F(HistoryTest, ListsNewestFirstInPages) {
  History history = opened();
  add(history, 0, 5);
  EXPECT_THAT(ids(history, {}), ElementsAre("4", "3", "2", "1", "0"));
  EXPECT_THAT(ids(history, {.limit = 2}), ElementsAre("4", "3"));
  EXPECT_THAT(ids(history, {.limit = 2, .before = "3"}), ElementsAre("2", "1"));
  EXPECT_THAT(ids(history, {.before = "0"}), IsEmpty());
  EXPECT_THAT(ids(history, {.before = "unknown"}), IsEmpty());
  EXPECT_THAT(ids(history, {.limit = -3}), ElementsAre("4"));
}

TEST_F(HistoryTest, FiltersByModelAndClass) {
  History history = opened();
  ASSERT_TRUE(history.add(report("a", "tiny", ResponseClass::kLoadCold)));
  ASSERT_TRUE(history.add(report("b", "tiny")));
  ASSERT_TRUE(history.add(report("c", "big", ResponseClass::kLoadCold)));
  EXPECT_THAT(ids(history, {.model = "tiny"}), ElementsAre("b", "a"));
  EXPECT_THAT(ids(history, {.response_class = ResponseClass::kLoadCold}), ElementsAre("c", "a"));
  EXPECT_THAT(
      ids(history, {.before = "c", .model = "tiny", .response_class = ResponseClass::kLoadCold}),
      ElementsAre("a"));
  EXPECT_THAT(ids(history, {.model = "x' OR 1=1 --"}), IsEmpty());
}

TEST_F(HistoryTest, SurvivesReopening) {
  {
    History history = opened();
    add(history, 0, 3);
  }
  History history = opened();
  add(history, 3, 4);
  EXPECT_THAT(ids(history, {}), ElementsAre("3", "2", "1", "0"));
}

TEST_F(HistoryTest, SameIdReplaces) {
  History history = opened();
  ASSERT_TRUE(history.add(report("a", "tiny")));
  ASSERT_TRUE(history.add(report("b", "tiny")));
  ASSERT_TRUE(history.add(report("a", "big")));
  EXPECT_THAT(ids(history, {}), ElementsAre("a", "b"));
  EXPECT_THAT(*history.get("a"), HasSubstr(R"("model":"big")"));
}

TEST_F(HistoryTest, ForgetsTheOldestBeyondItsRows) {
  constexpr int kRows = 10;
  History history = opened({.rows = kRows});
  add(history, 0, 10 * History::kPruneEvery);
  EXPECT_THAT(ids(history, {.limit = 1000}), SizeIs(kRows));
  add(history, 1000, 1000 + History::kPruneEvery - 1);
  EXPECT_THAT(ids(history, {.limit = 1000}), SizeIs(kRows + History::kPruneEvery - 1));
  EXPECT_EQ(history.get("0").error().code(), ErrorCode::kNotFound);
}

TEST_F(HistoryTest, ForgetsTheOldestBeyondItsBytes) {
  const std::uint64_t entry = to_history_json(report("100")).size();
  History history = opened({.bytes = Bytes{entry * 5}});
  add(history, 100, 100 + 2 * History::kPruneEvery);
  const std::string newest = std::to_string(99 + 2 * History::kPruneEvery);
  EXPECT_THAT(ids(history, {}), SizeIs(5));
  EXPECT_EQ(ids(history, {}).front(), newest);
}

TEST_F(HistoryTest, ReplacedEntriesDoNotCountTwice) {
  const std::uint64_t entry = to_history_json(report("a")).size();
  History history = opened({.bytes = Bytes{entry * 2}});
  ASSERT_TRUE(history.add(report("b")));
  for (int i = 1; i < History::kPruneEvery; ++i) ASSERT_TRUE(history.add(report("a")));
  EXPECT_THAT(ids(history, {}), ElementsAre("a", "b"));
}

TEST_F(HistoryTest, SmallerLimitsHoldFromTheStart) {
  {
    History history = opened();
    add(history, 0, 20);
  }
  History history = opened({.rows = 4});
  EXPECT_THAT(ids(history, {}), ElementsAre("19", "18", "17", "16"));
}

TEST_F(HistoryTest, BrokenFileBeginsANewOne) {
  std::ofstream{path()} << std::string(4096, 'x');
  History history = opened();
  EXPECT_THAT(ids(history, {}), IsEmpty());
  EXPECT_TRUE(history.add(report("a")));
}

TEST_F(HistoryTest, FileIsForItsOwnerOnly) {
  const History history = opened();
  struct stat info{};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(HistoryTest, WorksAfterBeingMoved) {
  History first = opened();
  ASSERT_TRUE(first.add(report("a")));
  History second = std::move(first);
  ASSERT_TRUE(second.add(report("b")));
  EXPECT_THAT(ids(second, {}), ElementsAre("b", "a"));
}

TEST_F(HistoryTest, FileOfANewerHearthIsRefused) {
  {
    Result<Database> db = Database::open(path());
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->execute("PRAGMA user_version=99"));
  }
  EXPECT_EQ(History::open(path()).error().code(), ErrorCode::kConflict);
}

}  // namespace
}  // namespace hearth
