// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/prefix_room.h"

#include <sys/stat.h>

#include <algorithm>

#include "front/prefix/testing/room_fixture.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::kInMemory;
using testing::kRecord;
using testing::prompt;
using testing::RoomFixture;
using Miss = PrefixRoom::Miss;

class PrefixRoomTest : public ::testing::Test, protected RoomFixture {};

TEST_F(PrefixRoomTest, FindsInMemoryWhatWasKept) {
  open();
  const Served first = serve({.tokens = prompt(1, 200), .generated = 130});
  EXPECT_EQ(first.arena + first.disk, 0);
  EXPECT_EQ(first.slots, 3 + 3 + 1);
  EXPECT_EQ(first.kept, 5);
  EXPECT_EQ(serve({.tokens = prompt(1, 200)}).arena, 3);
  std::vector<int> next = prompt(1, 200);
  for (int i = 0; i < 130; ++i) next.push_back(7'000'000 + i);
  EXPECT_EQ(serve({.tokens = next}).arena, 5);
  EXPECT_EQ(serve({.tokens = prompt(2, 200)}).arena, 0);
  EXPECT_EQ(room().stored("a").tokens_memory, 8 * 64);
  EXPECT_EQ(room().figures().lookups, 4u);
}

TEST_F(PrefixRoomTest, OutlivesTheWorker) {
  open();
  serve({.tokens = prompt(1, 300)});
  lose_worker("a");
  EXPECT_EQ(serve({.tokens = prompt(1, 300)}).arena, 4);
}

TEST_F(PrefixRoomTest, ARestartFindsOnDiskWhatWasWritten) {
  open();
  serve({.tokens = prompt(1, 300)});
  be_quiet();
  EXPECT_EQ(files().size(), 4u);
  EXPECT_EQ(serve({.tokens = prompt(1, 300)}).arena, 4) << "memory comes first";
  for (int round = 0; round < 2; ++round) {
    crash();
    make();
    const Served served = serve({.tokens = prompt(1, 300), .generated = 70});
    EXPECT_EQ(served.disk, 4);
    EXPECT_EQ(served.arena, 0);
  }
  EXPECT_EQ(room().stored("a").tokens_disk, 4 * 64);
  EXPECT_EQ(room().stored("a").disk.count(), 4 * kRecord.count());
  EXPECT_EQ(room().stored("b").tokens_disk, 0);
}

TEST_F(PrefixRoomTest, StopWritesWhatIsLeft) {
  open();
  serve({.tokens = prompt(1, 300)});
  EXPECT_TRUE(files().empty());
  open();
  EXPECT_EQ(serve({.tokens = prompt(1, 300)}).disk, 4);
}

TEST_F(PrefixRoomTest, FilesAreForTheirOwnerOnly) {
  open();
  serve({.tokens = prompt(1, 300)});
  be_quiet();
  const auto mode = [](const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 0777;
  };
  EXPECT_EQ(mode(files().front()), 0600u);
  EXPECT_EQ(mode(std::filesystem::path{files().front()}.parent_path()), 0700u);
  EXPECT_EQ(mode(directory() + "/prefix"), 0700u);
  EXPECT_EQ(mode(directory() + "/prefix/secret"), 0600u);
  EXPECT_EQ(mode(files("domain.json").front()), 0600u);
}

TEST_F(PrefixRoomTest, GoesOnInMemoryWhereTheDiskEnds) {
  open();
  serve({.tokens = prompt(1, 300)});
  open();
  std::vector<int> longer = prompt(1, 500);
  EXPECT_EQ(serve({.tokens = longer}).kept, 3);
  const Served served = serve({.tokens = longer});
  EXPECT_EQ(served.disk, 4);
  EXPECT_EQ(served.arena, 3);
  be_quiet();
  EXPECT_EQ(files().size(), 7u);
}

// ---- domains ----

TEST_F(PrefixRoomTest, GroupsKnowNothingOfEachOther) {
  open();
  serve({.group = "anna", .tokens = prompt(1, 300)});
  be_quiet();
  EXPECT_EQ(serve({.group = "ben", .tokens = prompt(1, 300)}).kept, 4);
  open();
  EXPECT_EQ(serve({.group = "clara", .tokens = prompt(1, 300)}).disk, 0);
  EXPECT_EQ(serve({.group = "anna", .tokens = prompt(1, 300)}).disk, 4);
}

TEST_F(PrefixRoomTest, ADomainIsAllThatChangesValuesAndNothingElse) {
  open();
  const std::string domain = room().domain(use("a"));
  const auto with = [&](auto change) {
    PrefixRoom::Use changed = use("a");
    change(changed);
    return room().domain(changed);
  };
  using Use = PrefixRoom::Use;
  EXPECT_EQ(with([](Use& u) { u.options.context_limit = 9; }), domain);
  EXPECT_EQ(with([](Use& u) { u.options.parallel = 9; }), domain);
  EXPECT_EQ(with([](Use& u) { u.options.threads = 9; }), domain);
  EXPECT_NE(with([](Use& u) { u.options.exact = true; }), domain);
  EXPECT_NE(with([](Use& u) { u.ready.engine = "x"; }), domain);
  EXPECT_NE(with([](Use& u) { u.ready.backend = "x"; }), domain);
  EXPECT_NE(with([](Use& u) { u.ready.compile_key.layout = "x"; }), domain);
  EXPECT_NE(with([](Use& u) { u.group = "x"; }), domain);
  EXPECT_NE(with([](Use& u) { u.artifact = "b"; }), domain);
  content_.erase("a");
  EXPECT_NE(room().domain(use("a")), domain);
  content_["a"] = "another";
  EXPECT_NE(room().domain(use("a")), domain);
  content_["a"] = "aaaa";
  EXPECT_EQ(room().domain(use("a")), domain);
  open();
  EXPECT_EQ(room().domain(use("a")), domain);
}

TEST_F(PrefixRoomTest, AModelWithoutAHashStaysOffTheDisk) {
  content_.erase("a");
  open();
  serve({.tokens = prompt(1, 300)});
  be_quiet();
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(serve({.tokens = prompt(1, 300)}).arena, 4);
  content_["a"] = "aaaa";
  EXPECT_EQ(serve({.tokens = prompt(1, 300)}).arena, 4);
  open();
  EXPECT_EQ(files().size(), 4u);
}

// ---- misses ----

TEST_F(PrefixRoomTest, TellsWhyAPromptMissed) {
  open();
  const auto miss = [this](Request request) {
    const Open open = begin(std::move(request));
    return room().found(open.id).miss;
  };
  EXPECT_EQ(miss({.tokens = prompt(1, 300)}), Miss::kNone) << "never seen";
  serve({.tokens = prompt(1, 300)});
  EXPECT_EQ(miss({.tokens = prompt(1, 300)}), Miss::kNone) << "all there";
  EXPECT_EQ(miss({.tokens = prompt(1, 400)}), Miss::kNone) << "it goes on where it ended";
  std::vector<int> other = prompt(1, 300);
  other[150] = 3;
  EXPECT_EQ(miss({.tokens = other}), Miss::kDiverged);
  EXPECT_EQ(miss({.tokens = prompt(1, 30)}), Miss::kNone) << "a stored block begins so";
  EXPECT_EQ(miss({.tokens = prompt(2, 30)}), Miss::kShort);
  EXPECT_EQ(miss({.group = "ben", .tokens = prompt(1, 300)}), Miss::kNone) << "not ben's affair";
  options_.exact = true;
  EXPECT_EQ(miss({.tokens = prompt(1, 300)}), Miss::kOtherOptions);
  options_.exact = false;
  (void)wait(room().drop({"a", std::nullopt}));
  const Open open = begin({.tokens = prompt(1, 300)});
  EXPECT_EQ(room().found(open.id).miss, Miss::kEvicted);
  EXPECT_EQ(room().found(open.id).seen, 256);
  not_restorable_ = "recurrent";
  EXPECT_EQ(miss({.tokens = prompt(1, 300)}), Miss::kNotRestorable);
}

TEST_F(PrefixRoomTest, KeepsNothingOfWhatCannotBeRestored) {
  open();
  not_restorable_ = "recurrent";
  EXPECT_EQ(serve({.tokens = prompt(1, 300)}).slots, 0);
}

TEST_F(PrefixRoomTest, KeepsNothingWithoutMemory) {
  limits_.memory = Bytes{};
  open();
  EXPECT_EQ(arena("a"), nullptr);
  EXPECT_EQ(serve({.tokens = prompt(1, 300)}).slots, 0);
}

// ---- restore or recompute ----

TEST_F(PrefixRoomTest, ReadsOnlyWhatTakesLongerToEvaluate) {
  open();
  serve({.tokens = prompt(1, 64 * 4)});
  open();
  Open reading = begin({.tokens = prompt(1, 64 * 4)});
  EXPECT_EQ(reading.served.disk, 4) << "nothing was measured";
  EXPECT_FALSE(reading.served.both_ways);
  const TimePoint now = loop().now();
  reading.started.stages.push_back({StageKind::kRestore, now, now + 1s, Bytes{}});
  reading.started.prefix.disk = 64 * 4;
  reading.started.prefix.disk_bytes = Bytes{100 * kRecord.count()};
  start(reading);
  EXPECT_NEAR(room().figures().restore_disk_rate, 100.0 * static_cast<double>(kRecord.count()), 1);
  EXPECT_EQ(room().figures().hit_tokens, 64u * 4);
  prefill_rate_ = 64 * 1'000;  // 1 ms a block, where reading takes 10
  EXPECT_EQ(begin({.tokens = prompt(1, 64 * 4)}).served.disk, 0);
  prefill_rate_ = 64 * 20;  // 50 ms
  EXPECT_EQ(begin({.tokens = prompt(1, 64 * 4)}).served.disk, 4);
  EXPECT_TRUE(begin({.tokens = prompt(1, 64 * 4)}).served.both_ways);
  prefill_rate_ = 64 * 2;  // 500 ms
  EXPECT_FALSE(begin({.tokens = prompt(1, 64 * 4)}).served.both_ways);
}

TEST_F(PrefixRoomTest, ABadRateIsNotForEver) {
  open();
  serve({.tokens = prompt(1, 64 * 4)});
  open();
  const auto restore = [this](Open reading) {
    const TimePoint now = loop().now();
    reading.started.stages.push_back({StageKind::kRestore, now, now + 1s, Bytes{}});
    reading.started.prefix.disk = 64 * 4;
    reading.started.prefix.disk_bytes = Bytes{100 * kRecord.count()};
    start(reading);
    finish(std::move(reading), 0);
  };
  restore(begin({.tokens = prompt(1, 64 * 4)}));
  prefill_rate_ = 64 * 20;
  const double rate = room().figures().restore_disk_rate;
  Open both = begin({.tokens = prompt(1, 64 * 4)});
  ASSERT_TRUE(both.served.both_ways);
  loop().run_for(1s);
  both.started.stages.push_back({StageKind::kRestore, loop().now(), loop().now() + 9s, Bytes{}});
  restore(std::move(both));
  EXPECT_EQ(room().figures().restore_disk_rate, rate) << "it was evaluated meanwhile";
  prefill_rate_ = 64 * 1'000;
  for (int lookup = 3; lookup <= 20; ++lookup) {
    const Served served = begin({.tokens = prompt(1, 64 * 4)}).served;
    EXPECT_EQ(served.disk, lookup % 10 == 0 ? 4 : 0) << lookup;
    EXPECT_FALSE(served.both_ways && lookup % 10 == 0);
  }
}

TEST_F(PrefixRoomTest, ManyFilesTravelInSeveralFrames) {
  open();
  serve({.tokens = prompt(1, 64)});
  serve({.tokens = prompt(1, 64 * 140)});
  open();
  const Served served = serve({.tokens = prompt(1, 64 * 140)});
  EXPECT_EQ(served.frames, 2u);
  EXPECT_EQ(served.disk, 140);
}

TEST_F(PrefixRoomTest, ExactModelsGetWholeMicroBatches) {
  options_.exact = true;
  open();
  serve({.tokens = prompt(1, 64 * 13)});
  EXPECT_EQ(serve({.tokens = prompt(1, 64 * 13)}).arena, 8);
}

// ---- what a worker refuses ----

TEST_F(PrefixRoomTest, ARefusedBlockAndThoseAfterItGo) {
  open();
  serve({.tokens = prompt(1, 64 * 6)});
  be_quiet();
  Open open = begin({.tokens = prompt(1, 64 * 6)});
  open.served.refused.push_back({2, "tokens"});
  start(open);
  finish(std::move(open));
  EXPECT_EQ(room().stored("a").tokens_memory, 64 * 2);
  EXPECT_EQ(room().figures().refused,
            (std::vector<std::pair<std::string, std::uint64_t>>{{"tokens", 1}}));
  const Served again = serve({.tokens = prompt(1, 64 * 6)});
  EXPECT_EQ(again.arena, 2);
  EXPECT_EQ(again.disk, 4);
}

TEST_F(PrefixRoomTest, AReportOfMoreThanWasAskedForIsNotBelieved) {
  open();
  const Open open = begin({.tokens = prompt(1, 64 * 3)});
  wire::BlocksMessage message;
  message.sizes.assign(3, Bytes{std::uint64_t{60} << 20});
  room().note_blocks(open.id, message);
  EXPECT_EQ(room().stored("a").tokens_memory, 0);
  EXPECT_EQ(room().figures().refused.front().first, "report");
}

TEST_F(PrefixRoomTest, BadMemoryIsNotWritten) {
  open();
  Open bad = begin({.tokens = prompt(1, 64 * 3)});
  start(bad);
  const int slot = bad.keep.at(1);
  finish(std::move(bad));
  write("a", slot, "x");
  be_quiet();
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(room().stored("a").tokens_memory, 64);
  EXPECT_EQ(serve({.tokens = prompt(1, 64 * 3)}).arena, 1);
}

// ---- by choice ----

TEST_F(PrefixRoomTest, DropTakesMemoryDiskAndWhatIsOnItsWay) {
  open();
  serve({.group = "anna", .tokens = prompt(1, 300)});
  serve({.group = "ben", .tokens = prompt(1, 300)});
  be_quiet();
  serve({.artifact = "b", .tokens = prompt(1, 300)});
  Open open = begin({.group = "anna", .tokens = prompt(1, 64 * 6)});
  const Bytes bytes = wait(room().drop({"a", "anna"})).value();
  EXPECT_EQ(bytes.count(), 8 * kRecord.count());
  EXPECT_EQ(files().size(), 4u);
  EXPECT_EQ(open.served.arena, 4) << "its slots are there for as long as it may read them";
  start(open);
  finish(std::move(open));
  EXPECT_EQ(room().stored("a").tokens_memory, 64 * 4) << "ben's";
  EXPECT_EQ(room().stored("b").tokens_memory, 64 * 4);
  (void)wait(room().drop({}));
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(files("domain.json").empty());
  EXPECT_EQ(resident(), Bytes{});
}

TEST_F(PrefixRoomTest, SpillWritesBeyondTheDaysBudgetAndFreesMemory) {
  limits_.daily = Bytes{};
  open();
  serve({.tokens = prompt(1, 300)});
  serve({.artifact = "b", .tokens = prompt(1, 300)});
  be_quiet();
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(wait(room().spill({"a", std::nullopt})).value().count(), 4 * kRecord.count());
  EXPECT_EQ(files().size(), 4u);
  EXPECT_EQ(room().stored("a").tokens_memory, 0);
  EXPECT_EQ(room().stored("b").tokens_memory, 64 * 4);
  EXPECT_EQ(serve({.tokens = prompt(1, 300)}).disk, 4);
}

TEST_F(PrefixRoomTest, SpillWithoutRoomSaysSoAndKeepsMemory) {
  limits_.disk = Bytes{2 * kRecord.count()};
  open();
  serve({.tokens = prompt(1, 300)});
  const auto spilled = wait(room().spill({"a", std::nullopt}));
  ASSERT_FALSE(spilled);
  EXPECT_EQ(spilled.error().code(), ErrorCode::kNoSpace);
  EXPECT_LE(on_disk(), limits_.disk);
  EXPECT_EQ(serve({.tokens = prompt(1, 300)}).arena, 4);
}

TEST_F(PrefixRoomTest, ModulesStay) {
  limits_.memory = Bytes{40 * kInMemory.count()};
  open();
  serve({.tokens = prompt(9, 64)});
  serve({.tokens = prompt(1, 64 * 4), .module = "house"});
  for (int i = 2; i < 30; ++i) serve({.tokens = prompt(i, 64 * 8)});
  EXPECT_EQ(serve({.tokens = prompt(1, 64 * 4)}).arena, 4);
}

TEST_F(PrefixRoomTest, ModulesOfFormerTextsMayGo) {
  limits_.memory = Bytes{20 * kInMemory.count()};
  limits_.disk = Bytes{10 * kRecord.count()};
  open();
  serve({.tokens = prompt(9, 64)});
  serve({.tokens = prompt(1, 64 * 4 + 5)});
  const std::vector<int> tokens = prompt(1, 64 * 4 + 5);
  EXPECT_EQ(room().kept(use("a"), tokens).memory, 64 * 4);
  EXPECT_EQ(room().keep_module(use("a"), tokens, "house 1").anywhere, 64 * 4);
  be_quiet();
  const auto others = [this] {
    for (int i = 2; i < 12; ++i) {
      serve({.tokens = prompt(i, 64 * 5)});
      if (i % 3 == 0) be_quiet();
    }
  };
  others();
  EXPECT_EQ(room().kept(use("a"), tokens).memory, 64 * 4);
  open();
  EXPECT_EQ(room().kept(use("a"), tokens).memory, 0);
  others();
  EXPECT_EQ(room().kept(use("a"), tokens).anywhere, 64 * 4) << "on disk over a restart";
  room().keep_modules([](const std::string& module) { return module == "house 2"; });
  others();
  others();
  EXPECT_EQ(room().kept(use("a"), tokens).anywhere, 0);
}

}  // namespace
}  // namespace hearth::front
