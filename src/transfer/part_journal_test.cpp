// SPDX-License-Identifier: Apache-2.0
#include "transfer/part_journal.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/temporary_directory.h"
#include "transfer/part_digests.h"

namespace hearth::transfer {
namespace {

Digest digest_of(std::string_view text) { return Sha256{}.add(text).finish(); }

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() : file_{*files_.open_write(directory_ / "journal", Files::Create::kAlways)} {}

  JournalHeader begin() {
    JournalHeader header{
        {Bytes{10 * kPartSize.count() + 1}, digest_of("all"), "\"etag\""}, kPartSize, "a boot", 0};
    return *begin_journal(files_, file_, header);
  }
  void flip(std::uint64_t at) {
    std::array<std::byte, 1> byte{};
    ASSERT_EQ(*files_.read_at(file_, at, byte), 1u);
    byte[0] ^= std::byte{0x10};
    ASSERT_TRUE(files_.write_at(file_, at, byte));
  }

  const Files& files_ = Files::real();
  const TemporaryDirectory directory_;
  const Fd file_;
};

TEST_F(JournalTest, ComesBackAsWritten) {
  const JournalHeader header = begin();
  const PartRecord hashed{static_cast<std::uint32_t>(kPartSize.count()), digest_of("part")};
  ASSERT_TRUE(write_record(files_, file_, header.salt, 0, hashed));
  ASSERT_TRUE(write_record(files_, file_, header.salt, 3, {77, {}}));
  const Result<Journal> journal = peek_journal(files_, directory_ / "journal");
  ASSERT_TRUE(journal) << journal.error().message();
  EXPECT_EQ(journal->header.identity, header.identity);
  EXPECT_EQ(journal->header.boot, "a boot");
  EXPECT_EQ(journal->header.salt, header.salt);
  ASSERT_EQ(journal->parts.size(), 4u);
  EXPECT_EQ(journal->parts[0], hashed);
  EXPECT_EQ(journal->parts[1], PartRecord{});
  EXPECT_EQ(journal->parts[3].filled, 77u);
  EXPECT_EQ(journal->arrived(), kPartSize + Bytes{77});
}

TEST_F(JournalTest, ADamagedRecordIsEmptyWhereverTheDamageIs) {
  const JournalHeader header = begin();
  for (std::uint64_t at = 512; at < 512 + 64; ++at) {
    ASSERT_TRUE(write_record(files_, file_, header.salt, 0, {77, digest_of("part")}));
    ASSERT_TRUE(write_record(files_, file_, header.salt, 1, {78, {}}));
    flip(at);
    const Result<Journal> journal = read_journal(files_, file_);
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->parts[0], PartRecord{}) << at;
    EXPECT_EQ(journal->parts[1].filled, 78u);
  }
}

TEST_F(JournalTest, ADamagedHeaderIsNoHeader) {
  for (std::uint64_t at = 0; at < 512; ++at) {
    begin();
    flip(at);
    EXPECT_EQ(read_journal(files_, file_).error().code(), ErrorCode::kCorrupt) << at;
  }
}

TEST_F(JournalTest, RecordsOfAnEarlierJournalAreEmpty) {
  const JournalHeader first = begin();
  const JournalHeader second = begin();
  EXPECT_NE(first.salt, second.salt);
  ASSERT_TRUE(write_record(files_, file_, first.salt, 0, {77, digest_of("part")}));
  EXPECT_EQ(read_journal(files_, file_)->parts[0], PartRecord{});
  EXPECT_NE(begin().salt, first.salt);
}

TEST_F(JournalTest, ARecordIsOfItsPlaceOnly) {
  const JournalHeader header = begin();
  ASSERT_TRUE(write_record(files_, file_, header.salt, 0, {77, digest_of("part")}));
  std::array<std::byte, 64> record{};
  ASSERT_TRUE(files_.read_at(file_, 512, record));
  ASSERT_TRUE(files_.write_at(file_, 512 + 64, record));
  EXPECT_EQ(read_journal(files_, file_)->parts[1], PartRecord{});
}

TEST_F(JournalTest, NothingAndLittleAreNoJournal) {
  EXPECT_EQ(read_journal(files_, file_).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(peek_journal(files_, directory_ / "none").error().code(), ErrorCode::kNotFound);
  begin();
  ASSERT_TRUE(files_.resize(file_, Bytes{511}));
  EXPECT_EQ(read_journal(files_, file_).error().code(), ErrorCode::kCorrupt);
}

TEST_F(JournalTest, TooLongAValidatorIsNone) {
  JournalHeader header;
  header.identity.validator = std::string(kLongestValidator + 1, 'x');
  ASSERT_TRUE(begin_journal(files_, file_, header));
  EXPECT_EQ(read_journal(files_, file_)->header.identity.validator, "");
}

TEST_F(JournalTest, DigestsOfPartsComeBackAsWritten) {
  const PartDigests digests{
      kPartSize + Bytes{5}, digest_of("all"), kPartSize, {digest_of("a"), digest_of("b")}};
  ASSERT_TRUE(write_part_digests(files_, file_, digests));
  const Result<PartDigests> back = read_part_digests(files_, file_);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, digests);
  for (std::uint64_t at = 0; at < 64 + 2 * 32; ++at) {
    ASSERT_TRUE(write_part_digests(files_, file_, digests));
    flip(at);
    EXPECT_EQ(read_part_digests(files_, file_).error().code(), ErrorCode::kCorrupt) << at;
  }
}

TEST_F(JournalTest, ARepairJournalSaysThatAllIsThere) {
  const PartDigests digests{
      kPartSize + Bytes{5}, digest_of("all"), kPartSize, {digest_of("a"), digest_of("b")}};
  ASSERT_TRUE(write_repair_journal(files_, file_, digests));
  const Result<Journal> journal = read_journal(files_, file_);
  EXPECT_EQ(journal->arrived(), digests.size);
  EXPECT_EQ(*digests_of_journal(files_, file_, digests.whole), digests);
}

TEST_F(JournalTest, AnUnfinishedDownloadHasNoDigestsToInstall) {
  const JournalHeader header = begin();
  ASSERT_TRUE(write_record(files_, file_, header.salt, 0, {77, digest_of("part")}));
  EXPECT_EQ(digests_of_journal(files_, file_, digest_of("all")).error().code(),
            ErrorCode::kCorrupt);
}

TEST(DigestOfHex, TakesSixtyFourDigitsOnly) {
  const Digest digest = digest_of("text");
  EXPECT_EQ(digest_of_hex(hex_of(digest)), digest);
  std::string upper = hex_of(digest);
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(digest_of_hex(upper), digest);
  EXPECT_EQ(digest_of_hex(""), std::nullopt);
  EXPECT_EQ(digest_of_hex(hex_of(digest) + "00"), std::nullopt);
  EXPECT_EQ(digest_of_hex(std::string(63, '0') + "g"), std::nullopt);
}

}  // namespace
}  // namespace hearth::transfer
