// SPDX-License-Identifier: Apache-2.0
#include "transfer/download.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/temporary_directory.h"
#include "base/testing/faulty_files.h"
#include "transfer/part_digests.h"
#include "transfer/testing/fake_network.h"

namespace hearth::transfer {
namespace {

using hearth::testing::FaultyFiles;
using testing::Content;
using testing::content_of;
using testing::digest_of;
using testing::FakeNetwork;
using testing::FakeServer;
using testing::Weather;

constexpr std::size_t kPart = 1024;
constexpr std::size_t kSize = 100 * kPart + 17;
constexpr std::size_t kInFlight = 3 * 700;
constexpr int kPatience = 100'000;
const Geometry kSmall{Bytes{kPart}, Bytes{4 * kPart}, Bytes{16 * kPart}, Bytes{4 * kPart}, 3};

class DownloadTest : public ::testing::Test {
 protected:
  DownloadTest() {
    (void)Files::real().make_directories(directory_ / "graves", 0700);
    server_.content = std::make_shared<Content>(content_of(random_, kSize));
    wanted_ = {digest_of(*server_.content), Bytes{kSize}, "boot 1", kSmall};
  }

  Result<std::unique_ptr<Download>> open() {
    Result<Fd> data = files_.open_write(directory_ / "data", Files::Create::kIfMissing);
    Result<Fd> journal = files_.open_write(directory_ / "journal", Files::Create::kIfMissing);
    EXPECT_TRUE(files_.sync_directory(directory_.path()));
    return Download::open(files_, std::move(*data), std::move(*journal), wanted_);
  }

  // To the end, or for some steps; what the server sent is added to sent_.
  Result<HashStep> go(Download& download, int steps = kPatience, Weather weather = {}) {
    FakeNetwork network{server_, download, random_, weather};
    Result<HashStep> step = network.run(steps);
    sent_ += network.sent();
    return step;
  }

  // Opens, goes to the end and finishes.
  Result<Finished> fetch() {
    const auto download = open();
    if (!download) return Failed{download.error()};
    const Result<HashStep> step = go(**download);
    if (!step) return Failed{step.error()};
    EXPECT_EQ(*step, HashStep::kComplete);
    return (*download)->finish();
  }

  void interrupt_after(int steps) {
    const auto download = open();
    ASSERT_TRUE(download);
    ASSERT_TRUE(go(**download, steps));
  }

  Content data() const {
    const Result<Fd> file = Files::real().open_read(directory_ / "data");
    Content content(Files::real().info(*file)->size.count());
    EXPECT_TRUE(Files::real().read_at(*file, 0, content));
    return content;
  }
  void flip_on_disk(std::size_t at) {
    const Fd file = *Files::real().open_write(directory_ / "data", Files::Create::kNever);
    std::array<std::byte, 1> byte{};
    ASSERT_TRUE(Files::real().read_at(file, at, byte));
    byte[0] ^= std::byte{1};
    ASSERT_TRUE(Files::real().write_at(file, at, byte));
  }

  void expect_right() const { EXPECT_TRUE(data() == *server_.content); }

  const TemporaryDirectory directory_;
  FaultyFiles files_{1, directory_ / "graves"};
  Random random_{7};
  FakeServer server_;
  Wanted wanted_;
  std::size_t sent_ = 0;
};

TEST_F(DownloadTest, BringsTheFile) {
  const Result<Finished> finished = fetch();
  ASSERT_TRUE(finished) << finished.error().message();
  EXPECT_EQ(finished->sha256, *wanted_.promised);
  EXPECT_EQ(finished->validator, server_.validator);
  EXPECT_EQ(sent_, kSize);
  expect_right();
}

TEST_F(DownloadTest, AnEmptyFileIsComplete) {
  server_.content = std::make_shared<Content>();
  for (const std::optional<Bytes> size : {std::optional<Bytes>{}, std::optional{Bytes{}}}) {
    wanted_.promised = digest_of({});
    wanted_.size = size;
    const Result<Finished> finished = fetch();
    ASSERT_TRUE(finished) << finished.error().message();
    EXPECT_EQ(finished->sha256, digest_of({}));
  }
}

TEST_F(DownloadTest, KillsCostNothing) {
  for (int i = 0; i < 20; ++i) interrupt_after(static_cast<int>(random_.next() % 40));
  ASSERT_TRUE(fetch());
  EXPECT_LE(sent_, kSize + kSize / 20 + kInFlight);
  expect_right();
}

TEST_F(DownloadTest, WhatWasHashedIsKeptOverAPowerCut) {
  interrupt_after(250);
  const Bytes hashed = (*open())->state().arrived;
  wanted_.boot = "boot 2";
  const auto download = open();
  ASSERT_TRUE(download);
  // Only what was not hashed yet is gone, and that is no more than a window.
  EXPECT_GT((*download)->state().arrived + kSmall.window, hashed);
  EXPECT_EQ((*download)->state().arrived.count() % kPart, 0u);
  sent_ = 0;
  const std::size_t missing = kSize - (*download)->state().arrived.count();
  EXPECT_EQ(*go(**download), HashStep::kComplete);
  EXPECT_EQ(sent_, missing);
  expect_right();
}

TEST_F(DownloadTest, OneFlippedPartOnDiskCostsThatPart) {
  ASSERT_TRUE(fetch());
  sent_ = 0;
  flip_on_disk(40 * kPart + 5);
  ASSERT_TRUE(fetch());
  EXPECT_EQ(sent_, kPart);
  expect_right();
}

TEST_F(DownloadTest, ALostTailIsFetchedAgain) {
  ASSERT_TRUE(fetch());
  sent_ = 0;
  const Result<Fd> file = Files::real().open_write(directory_ / "data", Files::Create::kNever);
  ASSERT_TRUE(Files::real().resize(*file, Bytes{98 * kPart + 100}));
  ASSERT_TRUE(fetch());
  EXPECT_EQ(sent_, 2 * kPart + 17);
  expect_right();
}

TEST_F(DownloadTest, WhatTheDataIsTooShortForIsNotHere) {
  interrupt_after(200);
  ASSERT_GT((*open())->state().arrived, Bytes{});
  const Result<Fd> file = Files::real().open_write(directory_ / "data", Files::Create::kNever);
  ASSERT_TRUE(Files::real().resize(*file, Bytes{}));
  EXPECT_EQ((*open())->state().arrived, Bytes{});
  ASSERT_TRUE(fetch());
  expect_right();
}

TEST_F(DownloadTest, MoreThanWasAskedForIsLeftAlone) {
  const auto download = open();
  const std::optional<Range> range = (*download)->next();
  Content more(2 * kSize);
  EXPECT_EQ(*(*download)->arrived(range->id, more), Taken::kEnough);
  EXPECT_EQ((*download)->state().arrived.count(), *range->end);
}

TEST_F(DownloadTest, RepairsFromTheDigestsOfParts) {
  const Result<Finished> finished = fetch();
  const Result<Fd> journal =
      Files::real().open_write(directory_ / "journal", Files::Create::kNever);
  const Result<PartDigests> digests = digests_of_journal(Files::real(), *journal, finished->sha256);
  ASSERT_TRUE(digests) << digests.error().message();
  ASSERT_TRUE(write_repair_journal(Files::real(), *journal, *digests));
  flip_on_disk(3 * kPart);
  flip_on_disk(kSize - 1);
  sent_ = 0;
  wanted_.boot = "boot 9";
  ASSERT_TRUE(fetch());
  EXPECT_EQ(sent_, kPart + 17);
  expect_right();
}

TEST_F(DownloadTest, APartFlippedInTransitIsFound) {
  {
    // The lie comes first, and its digest is what the journal has.
    auto honest = server_.content;
    Content wrong = *honest;
    wrong[10 * kPart] ^= std::byte{1};
    server_.content = std::make_shared<Content>(wrong);
    interrupt_after(200);
    server_.content = honest;
  }
  const auto download = open();
  ASSERT_EQ(*go(**download), HashStep::kComplete);
  EXPECT_EQ((*download)->state().looks, 2);
  // It stops looking once the whole is right.
  EXPECT_LT(sent_, kSize + 10 * kPart + kSmall.window.count() + kInFlight);
  ASSERT_TRUE((*download)->finish());
  expect_right();
}

TEST_F(DownloadTest, WhatIsNotAsPromisedFailsWithBothDigests) {
  wanted_.promised = digest_of({});
  const Result<Finished> finished = fetch();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code(), ErrorCode::kCorrupt);
  for (const Digest& digest : {digest_of(*server_.content), digest_of({})}) {
    EXPECT_NE(finished.error().message().find(hex_of(digest)), std::string::npos);
  }
  EXPECT_EQ(sent_, 2 * kSize);
}

TEST_F(DownloadTest, AnotherVersionBeginsAnew) {
  wanted_.promised.reset();
  wanted_.size.reset();
  interrupt_after(200);
  server_.content = std::make_shared<Content>(content_of(random_, kSize / 2));
  server_.validator = "\"2\"";
  const Result<Finished> finished = fetch();
  ASSERT_TRUE(finished) << finished.error().message();
  EXPECT_EQ(finished->validator, "\"2\"");
  expect_right();
}

TEST_F(DownloadTest, AnotherValidatorOfWhatWasPromisedGoesOn) {
  interrupt_after(200);
  server_.validator = "\"2\"";
  ASSERT_TRUE(fetch());
  EXPECT_EQ(sent_, kSize);
  expect_right();
}

TEST_F(DownloadTest, WithoutAnyNameForTheVersionNothingIsMixed) {
  wanted_.promised.reset();
  server_.validator.clear();
  interrupt_after(200);
  EXPECT_EQ((*open())->state().arrived, Bytes{});
  ASSERT_TRUE(fetch());
  expect_right();
}

TEST_F(DownloadTest, AFileThatNeverHoldsStillFails) {
  wanted_.promised.reset();
  wanted_.size.reset();
  const auto download = open();
  Result<Answered> answered = Answered::kGoOn;
  for (int i = 0; i < 10 && answered; ++i) {
    answered = (*download)->answered({Bytes{kSize}, std::to_string(i)});
  }
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error().code(), ErrorCode::kUnavailable);
}

TEST_F(DownloadTest, SizesThatCannotBeAreRefused) {
  EXPECT_EQ((*open())->answered({Bytes{kSize + 1}, ""}).error().code(), ErrorCode::kCorrupt);
  wanted_.size.reset();
  const Bytes huge{std::uint64_t{1} << 62};
  EXPECT_EQ((*open())->answered({huge, ""}).error().code(), ErrorCode::kInvalid);
  wanted_.size = huge;
  EXPECT_EQ(open().error().code(), ErrorCode::kInvalid);
}

TEST_F(DownloadTest, NoRoomIsSaidAtOnceWithNeedAndFree) {
  files_.fail_change(5, ErrorCode::kNoSpace);  // two files, names, journal, then room
  const auto download = open();
  ASSERT_FALSE(download);
  EXPECT_EQ(download.error().code(), ErrorCode::kNoSpace);
  EXPECT_NE(download.error().message().find("needs 100.0 KiB"), std::string::npos)
      << download.error().message();
  EXPECT_NE(download.error().message().find("are free"), std::string::npos);
}

TEST_F(DownloadTest, ADiskThatFillsUpKeepsWhatCame) {
  files_.set_room(Bytes{kSize / 2});
  EXPECT_EQ(fetch().error().code(), ErrorCode::kNoSpace);
  files_.set_room(Bytes{10 * kSize});
  ASSERT_TRUE(fetch());
  EXPECT_LE(sent_, kSize + kInFlight);
  expect_right();
}

TEST_F(DownloadTest, AFailedSyncIsNotForgotten) {
  {
    const auto download = open();
    ASSERT_EQ(*go(**download), HashStep::kComplete);
    files_.fail_change(2, ErrorCode::kUnavailable);  // the length, then the sync
    ASSERT_FALSE((*download)->finish());
  }
  ASSERT_TRUE(fetch());
  files_.power_cut();
  expect_right();
}

TEST_F(DownloadTest, AServerWithoutRangesIsReadThroughOnce) {
  for (const auto kind : {FakeServer::Kind::kWholeOnly, FakeServer::Kind::kWholeWithoutLength}) {
    server_.kind = kind;
    wanted_.size.reset();
    ASSERT_TRUE(fetch());
    EXPECT_EQ(sent_, kSize);
    expect_right();
    sent_ = 0;
    wanted_.promised.reset();  // another identity: from the beginning
  }
}

TEST_F(DownloadTest, AStreamDoesNotRunAwayFromTheHash) {
  server_.kind = FakeServer::Kind::kWholeOnly;
  const auto download = open();
  FakeNetwork network{server_, **download, random_};
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(network.step());
  EXPECT_LE((*download)->state().arrived, kSmall.window);
}

TEST_F(DownloadTest, RangesStayWithinTheWindowAndShrinkAtTheEnd) {
  const auto download = open();
  std::uint64_t end = 0;
  while (const std::optional<Range> range = (*download)->next()) {
    EXPECT_EQ(range->begin, end);
    EXPECT_LE(*range->end - range->begin, kSmall.segment.count());
    end = *range->end;
  }
  EXPECT_EQ(end, kSmall.window.count());
  Range last;
  wanted_.geometry.window = Bytes{2 * kSize};
  const auto wide = open();
  while (const std::optional<Range> range = (*wide)->next()) last = *range;
  EXPECT_EQ(*last.end, kSize);
  EXPECT_LE(*last.end - last.begin, 2 * kPart);
}

TEST_F(DownloadTest, WhileTheSizeIsUnknownThereIsOneRange) {
  wanted_.size.reset();
  const auto download = open();
  const std::optional<Range> first = (*download)->next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->begin, 0u);
  EXPECT_FALSE((*download)->next());
  ASSERT_TRUE((*download)->answered({Bytes{kSize}, "\"1\""}));
  EXPECT_TRUE((*download)->next());
}

TEST_F(DownloadTest, WhatComesForAVoidRangeIsLeftAlone) {
  wanted_.promised.reset();
  wanted_.size.reset();
  const auto download = open();
  const std::optional<Range> range = (*download)->next();
  ASSERT_EQ(*(*download)->answered({Bytes{kSize}, "\"1\""}), Answered::kGoOn);
  ASSERT_EQ(*(*download)->answered({Bytes{kSize}, "\"2\""}), Answered::kBegunAnew);
  EXPECT_EQ((*download)->flow(range->id), Flow::kEnd);
  EXPECT_EQ(*(*download)->arrived(range->id, *server_.content), Taken::kEnough);
  EXPECT_TRUE((*download)->ended(range->id, HowEnded::kCut));
  EXPECT_EQ((*download)->state().arrived, Bytes{});
}

TEST_F(DownloadTest, BothSidesRunAtOnce) {
  for (const auto kind : {FakeServer::Kind::kRanges, FakeServer::Kind::kWholeOnly}) {
    server_.kind = kind;
    wanted_.promised = digest_of(*server_.content);
    const auto download = open();
    std::atomic<bool> over{false};
    Result<HashStep> step = HashStep::kWait;
    std::thread hash{[&] {
      while (step && *step != HashStep::kComplete) {
        if (*step == HashStep::kWait) (*download)->wait_for_bytes();
        step = (*download)->hash_some();
      }
      over = true;
    }};
    FakeNetwork network{server_, **download, random_, Weather{10, 1, 10}};
    while (!over) {
      EXPECT_TRUE(network.step());
      (void)(*download)->state();
    }
    hash.join();
    ASSERT_TRUE(step) << step.error().message();
    ASSERT_TRUE((*download)->finish());
    expect_right();
    server_.content = std::make_shared<Content>(content_of(random_, kSize));
  }
}

TEST_F(DownloadTest, StopEndsAWait) {
  const auto download = open();
  ASSERT_EQ(*(*download)->hash_some(), HashStep::kWait);
  std::thread waiting{[&] { (*download)->wait_for_bytes(); }};
  (*download)->stop();
  waiting.join();
}

}  // namespace
}  // namespace hearth::transfer
