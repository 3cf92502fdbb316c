// SPDX-License-Identifier: Apache-2.0
#include "base/sqlite.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/files.h"
#include "base/log.h"
#include "base/temporary_directory.h"

namespace hearth {
namespace {

const std::vector<std::string> kSteps{"CREATE TABLE t(a INTEGER, b REAL, c TEXT)",
                                      "CREATE INDEX t_a ON t(a); INSERT INTO t(a) VALUES(1)"};

std::int64_t count_of(Database& db, const std::string& what) {
  auto statement = db.prepare("SELECT " + what);
  if (!statement || !statement->step().value_or(false)) return -1;
  return statement->integer(0);
}

class SqliteTest : public testing::Test {
 protected:
  Database open() {
    auto db = Database::open(path_);
    if (!db) throw std::runtime_error{db.error().message()};
    return *std::move(db);
  }
  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "h.db";
};

TEST_F(SqliteTest, MigratesOnceAndKeepsItsRows) {
  {
    Database db = open();
    ASSERT_TRUE(db.migrate({kSteps[0]}));
  }
  for (int i = 0; i < 2; ++i) {
    Database db = open();
    const auto migrated = db.migrate(kSteps);
    ASSERT_TRUE(migrated) << migrated.error().message();
    EXPECT_EQ(count_of(db, "count(*) FROM t"), 1);
    EXPECT_FALSE(db.was_replaced());
  }
}

TEST_F(SqliteTest, RefusesTheSchemaOfANewerHearth) {
  Database db = open();
  ASSERT_TRUE(db.migrate(kSteps));
  const auto older = db.migrate({kSteps[0]});
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code(), ErrorCode::kConflict);
}

TEST_F(SqliteTest, FailedStepLeavesTheVersionBeforeIt) {
  Database db = open();
  EXPECT_FALSE(db.migrate({kSteps[0], "CREATE TABLE u(a); NONSENSE"}));
  EXPECT_EQ(count_of(db, "count(*) FROM sqlite_master WHERE name='u'"), 0);
  EXPECT_TRUE(db.migrate(kSteps));
}

TEST_F(SqliteTest, BindsAndReadsEveryType) {
  Database db = open();
  ASSERT_TRUE(db.migrate({kSteps[0]}));
  auto insert = db.prepare("INSERT INTO t VALUES(?,?,?)");
  ASSERT_TRUE(insert);
  const std::string text("a\0é", 4);
  ASSERT_TRUE(insert->bind(1, std::int64_t{1} << 40).bind(2, 0.5).bind(3, text).run());
  ASSERT_TRUE(insert->bind_null(1).run()) << "run() leaves it ready for the next row";
  EXPECT_EQ(db.changes(), 1);
  EXPECT_EQ(db.last_insert_id(), 2);
  auto select = db.prepare("SELECT a,b,c FROM t ORDER BY rowid");
  ASSERT_TRUE(select);
  ASSERT_TRUE(select->step().value());
  EXPECT_EQ(select->integer(0), std::int64_t{1} << 40);
  EXPECT_EQ(select->real(1), 0.5);
  EXPECT_EQ(select->text(2), text);
  ASSERT_TRUE(select->step().value());
  EXPECT_TRUE(select->is_null(0));
  EXPECT_EQ(select->text(2), "");
  EXPECT_FALSE(select->step().value());
}

TEST_F(SqliteTest, FailedBindShowsInRun) {
  Database db = open();
  auto statement = db.prepare("SELECT ?");
  ASSERT_TRUE(statement);
  EXPECT_FALSE(statement->bind(2, std::int64_t{1}).run());
  EXPECT_TRUE(statement->bind(1, std::int64_t{1}).run());
}

TEST_F(SqliteTest, TransactionRollsBackUnlessCommitted) {
  Database db = open();
  ASSERT_TRUE(db.migrate({kSteps[0]}));
  {
    auto dropped = Transaction::begin(db);
    ASSERT_TRUE(dropped);
    ASSERT_TRUE(db.execute("INSERT INTO t(a) VALUES(1)"));
  }
  EXPECT_EQ(count_of(db, "count(*) FROM t"), 0);
  auto kept = Transaction::begin(db);
  ASSERT_TRUE(kept);
  Transaction moved = *std::move(kept);
  ASSERT_TRUE(db.execute("INSERT INTO t(a) VALUES(1)"));
  ASSERT_TRUE(moved.commit());
  EXPECT_EQ(count_of(db, "count(*) FROM t"), 1);
}

class GarbageFile : public SqliteTest, public testing::WithParamInterface<std::size_t> {};
TEST_P(GarbageFile, IsMovedAsideAndBegunAnew) {
  std::ofstream{path_} << std::string(GetParam(), 'g');
  const auto before = log::counts()["database.replaced"];
  {
    Database db = open();
    EXPECT_TRUE(db.was_replaced());
    ASSERT_TRUE(db.migrate(kSteps));
  }
  EXPECT_EQ(log::counts()["database.replaced"], before + 1);
  EXPECT_EQ(read_small_file(path_ + ".broken-1"), std::string(GetParam(), 'g'));
  EXPECT_FALSE(open().was_replaced());
}
INSTANTIATE_TEST_SUITE_P(Sizes, GarbageFile, testing::Values(20, 512, 5000, 100'000));

TEST_F(SqliteTest, FileIsForItsOwnerOnly) {
  const Database db = open();
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(SqliteTest, PlaceThatDoesNotExistIsAnError) {
  EXPECT_FALSE(Database::open(directory_ / "none/h.db"));
  EXPECT_TRUE(Database::open(":memory:"));
}

}  // namespace
}  // namespace hearth
