// SPDX-License-Identifier: Apache-2.0
//
// PrefixRoom and blocks that are not whole, or of which a prompt has the beginning only.
#include <algorithm>
#include <fstream>

#include "base/sqlite.h"
#include "front/prefix/testing/room_fixture.h"

namespace hearth::front {
namespace {

using testing::kInMemory;
using testing::kRecord;
using testing::prompt;
using testing::RoomFixture;
using Miss = PrefixRoom::Miss;

class RoomParts : public ::testing::Test, protected RoomFixture {
 protected:
  RoomParts() { keeps_parts_ = true; }
};

// The first `common` tokens of prompt 1, then others.
std::vector<int> parting(std::size_t common, int number, std::size_t more = 40) {
  std::vector<int> tokens = prompt(1, common);
  for (std::size_t i = 0; i < more; ++i) {
    tokens.push_back(number * 1'000'000 + static_cast<int>(i));
  }
  return tokens;
}

TEST_F(RoomParts, TheEndIsFoundInMemoryAndOnDisk) {
  open();
  EXPECT_EQ(serve({.tokens = prompt(1, 230)}).kept, 4);
  EXPECT_EQ(room().stored("a").tokens_memory, 230);
  const Served memory = serve({.tokens = prompt(1, 230)});
  EXPECT_EQ(memory.arena, 4);
  EXPECT_EQ(memory.tokens, 229) << "the last one is evaluated in any case";
  be_quiet();
  EXPECT_EQ(files().size(), 4u);
  EXPECT_EQ(room().stored("a").tokens_disk, 230);
  for (int round = 0; round < 2; ++round) {
    crash();
    if (round == 1) std::filesystem::remove(directory() + "/prefix/index.db");
    make();
    const Open disk = begin({.tokens = prompt(1, 230)});
    EXPECT_EQ(disk.served.disk, 4);
    EXPECT_EQ(disk.served.tokens, 229);
    EXPECT_EQ(room().found(disk.id).disk, 229);
    EXPECT_EQ(room().stored("a").tokens_disk, 230);
  }
}

// As a version left it that noted no tokens.
TEST_F(RoomParts, AnOldIndexIsCompletedFromTheFiles) {
  open();
  serve({.tokens = prompt(1, 64 * 3)});
  stop();
  auto db = Database::open(directory() + "/prefix/index.db");
  ASSERT_TRUE(db);
  ASSERT_TRUE(db->execute("ALTER TABLE blocks DROP COLUMN tokens; PRAGMA user_version = 1"));
  db = fail(ErrorCode::kUnavailable, "closed");
  open();
  EXPECT_EQ(serve({.tokens = parting(64 * 2 + 20, 5)}).tokens, 64 * 2 + 20);
  stop();
  db = Database::open(directory() + "/prefix/index.db");
  auto count = db->prepare("SELECT count(*) FROM blocks WHERE tokens <> ''");
  ASSERT_TRUE(count && count->step());
  EXPECT_GE(count->integer(0), 3);
}

TEST_F(RoomParts, TwoPromptsThatPartInsideABlockShareWhatIsCommon) {
  open();
  serve({.tokens = prompt(1, 64 * 4)});
  struct Case {
    std::size_t common;
    int tokens;
  };
  for (const Case& each : {Case{64 * 2 + 7, 64 * 2}, {64 * 2 + 8, 64 * 2 + 8}, {63, 63}, {7, 0}}) {
    const Open open = begin({.tokens = parting(each.common, 5, 100)});
    EXPECT_EQ(open.served.tokens, each.tokens) << each.common;
    EXPECT_EQ(room().found(open.id).arena, each.tokens);
    EXPECT_EQ(room().found(open.id).miss, each.common < 64 ? Miss::kNone : Miss::kDiverged);
    room().close(open.id);
  }
  EXPECT_EQ(begin({.group = "ben", .tokens = prompt(1, 230)}).served.tokens, 0);
}

TEST_F(RoomParts, TheLongestIsTaken) {
  open();
  serve({.tokens = parting(64 + 20, 2)});
  serve({.tokens = parting(64 + 30, 3)});
  serve({.tokens = parting(64 + 10, 4)});
  EXPECT_EQ(serve({.tokens = parting(64 + 40, 5)}).tokens, 64 + 30);
  EXPECT_EQ(begin({.tokens = parting(64 + 24, 6)}).served.tokens, 64 + 24);
}

TEST_F(RoomParts, WhatGoesOnFromAPartTakesItsPlace) {
  open();
  serve({.tokens = prompt(1, 64 + 10)});
  serve({.tokens = prompt(1, 64 + 20)});
  EXPECT_EQ(room().stored("a").tokens_memory, 64 + 20);
  EXPECT_EQ(serve({.tokens = prompt(1, 64 + 15)}).tokens, 64 + 14);
  EXPECT_EQ(room().stored("a").tokens_memory, 64 + 20) << "a shorter one is superfluous";
  serve({.tokens = prompt(1, 64 * 2 + 30)});
  EXPECT_EQ(room().stored("a").tokens_memory, 64 * 2 + 30);
  EXPECT_EQ(room().figures().blocks_memory, 3);
  EXPECT_EQ(room().figures().evicted_memory, 0u);
}

TEST_F(RoomParts, TheFileOfAPartGoesOnceTheLongerOneIsWritten) {
  open();
  serve({.tokens = prompt(1, 64 * 2 + 10)});
  be_quiet();
  EXPECT_EQ(files().size(), 3u);
  serve({.tokens = prompt(1, 64 * 2 + 20)});
  EXPECT_EQ(room().stored("a").tokens_disk, 64 * 2 + 10);
  be_quiet();
  EXPECT_EQ(room().stored("a").tokens_disk, 64 * 2 + 20);
  EXPECT_EQ(files().size(), 3u);
  open();
  serve({.tokens = prompt(1, 64 * 2 + 15)});
  EXPECT_EQ(room().stored("a").tokens_memory, 0) << "the disk has that already";
  serve({.tokens = prompt(1, 64 * 3)});
  be_quiet();
  EXPECT_EQ(room().stored("a").tokens_disk, 64 * 3);
  EXPECT_EQ(files().size(), 3u);
  open();
  EXPECT_EQ(serve({.tokens = prompt(1, 64 * 3)}).disk, 3);
}

TEST_F(RoomParts, ABlockHasFewBehindIt) {
  open();
  for (int i = 2; i < 12; ++i) {
    serve({.tokens = parting(64 * 2 + 10, i, 20)});
    if (i % 2 == 0) be_quiet();
  }
  be_quiet();
  EXPECT_EQ(room().stored("a").tokens_memory, 64 * 2 + 4 * 30);
  EXPECT_EQ(room().stored("a").tokens_disk, 64 * 2 + 4 * 30);
  EXPECT_EQ(files().size(), 6u);
  EXPECT_EQ(serve({.tokens = parting(64 * 2 + 10, 11, 20)}).tokens, 64 * 2 + 29);
  EXPECT_EQ(begin({.tokens = parting(64 * 2 + 10, 2, 20)}).served.tokens, 64 * 2 + 10);
}

TEST_F(RoomParts, APartOfAModuleStaysForIt) {
  open();
  serve({.tokens = prompt(1, 64 * 2 + 20), .module = "house"});
  for (int i = 2; i < 12; ++i) serve({.tokens = parting(64 * 2 + 20, i, 10)});
  serve({.tokens = prompt(1, 64 * 2 + 40)});
  EXPECT_EQ(room().stored("a").tokens_memory, 64 * 2 + 20 + 3 * 30 + 40) << "four beside it";
  EXPECT_EQ(begin({.tokens = parting(64 * 2 + 20, 40)}).served.tokens, 64 * 2 + 20);
}

TEST_F(RoomParts, ADamagedOneGoesAloneAndComesBack) {
  open();
  serve({.tokens = prompt(1, 230)});
  Open open = begin({.tokens = prompt(1, 230)});
  open.served.refused.push_back({3, "checksum"});
  start(open);
  EXPECT_EQ(room().stored("a").tokens_memory, 64 * 3);
  finish(std::move(open));
  EXPECT_EQ(room().stored("a").tokens_memory, 230);
  EXPECT_EQ(room().figures().refused.front().first, "checksum");
}

TEST_F(RoomParts, AFileThatIsCutIsForgotten) {
  open();
  serve({.tokens = prompt(1, 230)});
  this->open();
  const std::vector<std::string> all = files();
  const std::string part = *std::ranges::find_if(all, [](const std::string& path) {
    std::ifstream file{path};
    std::string bytes(blocks::kHeaderSize, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return blocks::decode(std::as_bytes(std::span{bytes}))->tokens.size() < 64;
  });
  std::filesystem::resize_file(part, 1000);
  EXPECT_EQ(serve({.tokens = prompt(1, 230)}).tokens, 64 * 3);
  EXPECT_EQ(room().figures().refused.front().first, "short");
  be_quiet();
  EXPECT_EQ(serve({.tokens = prompt(1, 230)}).tokens, 229);
}

TEST_F(RoomParts, ExactModelsHaveNone) {
  options_.exact = true;
  open();
  serve({.tokens = prompt(1, 64 * 8)});
  EXPECT_EQ(serve({.tokens = parting(64 * 8 + 30, 2)}).tokens, 64 * 8);
  EXPECT_EQ(serve({.tokens = parting(64 * 8 + 30, 3)}).tokens, 64 * 8);
  EXPECT_EQ(begin({.tokens = parting(64 * 3 + 30, 3)}).served.tokens, 0);
}

TEST_F(RoomParts, AreReadWhereThatTakesLessThanToEvaluateThem) {
  open();
  serve({.tokens = prompt(1, 64 * 2 + 10)});
  this->open();
  Open reading = begin({.tokens = prompt(1, 64 * 2 + 11)});
  EXPECT_EQ(reading.served.tokens, 64 * 2 + 10);
  const TimePoint now = loop().now();
  reading.started.stages.push_back(
      {StageKind::kRestore, now, now + std::chrono::seconds{1}, Bytes{}});
  reading.started.prefix.disk = 64 * 2 + 10;
  reading.started.prefix.disk_bytes = Bytes{100 * kRecord.count()};
  start(reading);
  finish(std::move(reading), 0);
  prefill_rate_ = 64 * 20;  // 50 ms a block, 8 for ten tokens; a record is read in 10
  EXPECT_EQ(begin({.tokens = prompt(1, 64 * 2 + 11)}).served.tokens, 64 * 2);
  prefill_rate_ = 64 * 10;
  EXPECT_EQ(begin({.tokens = prompt(1, 64 * 2 + 11)}).served.tokens, 64 * 2 + 10);
}

TEST_F(RoomParts, AReportThatCannotBeIsNotBelieved) {
  open();
  for (const int part : {64, 100, 31, -1}) {
    const Open open = begin({.tokens = prompt(1, 64 + 30)});
    wire::BlocksMessage message;
    message.sizes = {kRecord, kRecord};
    message.part = part;
    room().note_blocks(open.id, message);
    loop().run_ready();
    EXPECT_EQ(room().stored("a").tokens_memory, 0) << part;
  }
}

}  // namespace
}  // namespace hearth::front
