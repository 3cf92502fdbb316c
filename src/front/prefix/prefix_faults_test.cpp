// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "base/testing/faulty_files.h"
#include "front/prefix/testing/room_fixture.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using hearth::testing::FaultyFiles;
using testing::kRecord;
using testing::prompt;
using testing::RoomFixture;
namespace fs = std::filesystem;

class PrefixFaults : public ::testing::Test, protected RoomFixture {
 protected:
  // Prompt 1 is on disk, four blocks, and the room is shut.
  void SetUp() override {
    open();
    serve({.tokens = prompt(1, 64 * 4)});
    stop();
    ASSERT_EQ(files().size(), 4u);
  }
  std::uint64_t refused(const std::string& reason) {
    for (const auto& [each, count] : room().figures().refused) {
      if (each == reason) return count;
    }
    return 0;
  }
  // The file of a block of prompt 1.
  std::string file_of(std::size_t block) {
    open();
    const Digest root = *digest_of_hex(room().domain(use("a")));
    stop();
    const auto chain = blocks::chain_of(root, prompt(1, 64 * 4));
    return directory() + "/prefix/" + hex_of(root) + "/" + hex_of(chain[block]) + ".kv";
  }
  void overwrite(const std::string& path, std::uint64_t at, std::string_view text) {
    const Fd file = std::move(*Files::real().open_write(path, Files::Create::kNever));
    ASSERT_TRUE(Files::real().write_at(file, at, std::as_bytes(std::span{text})));
  }
  void lose_index() {
    for (const char* name : {"index.db", "index.db-wal", "index.db-shm"}) {
      fs::remove(directory() + "/prefix/" + name);
    }
  }
  int offered() { return serve({.tokens = prompt(1, 64 * 4)}).disk; }
};

// A full disk, an error, a crash or a power cut at any step of saving costs the new blocks at most.
TEST_F(PrefixFaults, AtEveryStepOfASaveOlderEntriesRemain) {
  const std::string grave = directory() + "/grave";
  ASSERT_TRUE(Files::real().make_directories(grave, 0700));
  for (int step = 1; step < 30; ++step) {
    FaultyFiles faulty{static_cast<std::uint64_t>(step), grave};
    make(faulty);
    faulty.fail_change(step, step % 2 == 0 ? ErrorCode::kNoSpace : ErrorCode::kUnavailable);
    serve({.group = "new", .tokens = prompt(100 + step, 64 * 3)});
    be_quiet();
    crash();
    faulty.power_cut();
    make();
    EXPECT_TRUE(files(".part").empty()) << step;
    const Served old = serve({.tokens = prompt(1, 64 * 4)});
    EXPECT_EQ(old.disk, 4) << step;
    EXPECT_TRUE(old.refused.empty()) << step;
    EXPECT_TRUE(serve({.group = "new", .tokens = prompt(100 + step, 64 * 3)}).refused.empty());
    (void)wait(room().drop({"a", "new"}));
    EXPECT_EQ(files().size(), 4u) << step;
    stop();
  }
}

TEST_F(PrefixFaults, ACrashBetweenAnyTwoStepsOfASaveIsHarmless) {
  for (int step = 1; step < 30; ++step) {
    const std::string grave = directory() + "/grave";
    ASSERT_TRUE(Files::real().make_directories(grave, 0700));
    FaultyFiles faulty{static_cast<std::uint64_t>(step), grave};
    faulty.set_room(Bytes{static_cast<std::uint64_t>(step) * 2'000});
    make(faulty);
    serve({.group = "new", .tokens = prompt(100 + step, 64 * 3)});
    be_quiet();
    crash();
    make();
    EXPECT_EQ(offered(), 4) << step;
    EXPECT_TRUE(serve({.group = "new", .tokens = prompt(100 + step, 64 * 3)}).refused.empty());
    (void)wait(room().drop({"a", "new"}));
    stop();
  }
}

TEST_F(PrefixFaults, AFullDiskPausesWritingWithOneWarning) {
  FaultyFiles faulty{1, directory()};
  faulty.set_room(Bytes{2 * kRecord.count()});
  make(faulty);
  const auto warnings = [] { return log::counts()["prefix.not_written"]; };
  const std::uint64_t before = warnings();
  serve({.tokens = prompt(2, 64 * 4)});
  be_quiet();
  serve({.tokens = prompt(3, 64 * 4)});
  be_quiet();
  EXPECT_EQ(warnings(), before + 1);
  EXPECT_EQ(offered(), 4);
  EXPECT_EQ(serve({.tokens = prompt(2, 64 * 4)}).arena, 4);
  const auto spilled = wait(room().spill({"a", std::nullopt}));
  EXPECT_FALSE(spilled);
  faulty.set_room(Bytes{1 << 30});
  loop().run_for(2h);
  EXPECT_EQ(files().size(), 12u);
}

struct Damage {
  const char* name;
  std::size_t block;
  void (*harm)(const std::string& path);
  const char* reason;
  int left;
};
class DamagedFile : public PrefixFaults, public ::testing::WithParamInterface<Damage> {};
TEST_P(DamagedFile, IsLeftOutWithAReasonWhenTheIndexIsMadeAnew) {
  const std::string path = file_of(GetParam().block);
  lose_index();
  GetParam().harm(path);
  open();
  EXPECT_EQ(refused(GetParam().reason), 1u);
  EXPECT_EQ(refused("orphan"), 3u - GetParam().block);
  EXPECT_EQ(offered(), GetParam().left);
  EXPECT_EQ(files().size(), static_cast<std::size_t>(GetParam().left));
  be_quiet();
  open();
  EXPECT_EQ(offered(), 4) << "written again";
}
void put(const std::string& path, std::uint64_t at, std::string_view text) {
  const Fd file = std::move(*Files::real().open_write(path, Files::Create::kNever));
  ASSERT_TRUE(Files::real().write_at(file, at, std::as_bytes(std::span{text})));
}
INSTANTIATE_TEST_SUITE_P(
    PrefixRoom, DamagedFile,
    ::testing::Values(
        Damage{"FlippedHeader", 2, [](const std::string& p) { put(p, 300, "x"); },
               "header checksum", 2},
        Damage{"NoRecord", 0, [](const std::string& p) { put(p, 0, "something"); }, "no record", 0},
        Damage{"Empty", 3, [](const std::string& p) { fs::resize_file(p, 0); }, "short", 3},
        Damage{"Truncated", 1, [](const std::string& p) { fs::resize_file(p, 5000); }, "short", 1},
        Damage{"AnotherVersion", 1, [](const std::string& p) { put(p, 8, "\x09"); }, "version 9",
               1}),
    [](const auto& test) { return test.param.name; });

TEST_F(PrefixFaults, ForeignFilesAreNotBelieved) {
  const std::string path = file_of(1);
  const std::string directory_of_root = fs::path{path}.parent_path();
  const std::string other = directory_of_root + "/" + std::string(64, 'a') + ".kv";
  fs::copy_file(path, other);
  std::ofstream{directory_of_root + "/notes.txt"} << "somebody's";
  std::ofstream{directory_of_root + "/half.kv.part"} << "half";
  fs::create_directory(directory() + "/prefix/" + std::string(64, 'b'));
  fs::copy_file(
      path, directory() + "/prefix/" + std::string(64, 'b') + "/" + std::string(64, 'c') + ".kv");
  open();
  EXPECT_EQ(refused("foreign"), 1u);
  EXPECT_EQ(refused("domain"), 1u);
  EXPECT_EQ(offered(), 4);
  EXPECT_EQ(files().size(), 4u);
  EXPECT_TRUE(fs::exists(directory_of_root + "/notes.txt"));
  EXPECT_TRUE(files(".part").empty());
}

// The header is whole, so only whoever reads it all can tell.
TEST_F(PrefixFaults, AFlippedBitInABlockIsTheWorkersToFind) {
  overwrite(file_of(2), blocks::kHeaderSize + 77, "~");
  open();
  const Served served = serve({.tokens = prompt(1, 64 * 4)});
  EXPECT_EQ(served.disk, 2);
  EXPECT_EQ(served.refused.size(), 2u);
  EXPECT_EQ(files().size(), 2u);
  EXPECT_EQ(serve({.tokens = prompt(1, 64 * 4)}).disk, 2);
}

TEST_F(PrefixFaults, AFileThatVanishedIsForgotten) {
  open();
  fs::remove(files().at(0));
  const Served served = serve({.tokens = prompt(1, 64 * 4)});
  EXPECT_LT(served.disk, 4);
  EXPECT_EQ(served.disk + served.kept, 4);
  EXPECT_TRUE(served.refused.empty());
  EXPECT_EQ(room().figures().disk, on_disk());
}

TEST_F(PrefixFaults, ALostIndexIsMadeAnew) {
  lose_index();
  open();
  EXPECT_EQ(offered(), 4);
  EXPECT_EQ(room().stored("a").tokens_disk, 64 * 4);
  stop();
  std::ofstream{directory() + "/prefix/index.db"} << "not a database at all, but long enough";
  open();
  EXPECT_EQ(offered(), 4);
}

TEST_F(PrefixFaults, WithoutItsSecretNothingIsFoundAndNothingStays) {
  fs::remove(directory() + "/prefix/secret");
  open();
  EXPECT_EQ(offered(), 0);
  EXPECT_TRUE(files().empty());
}

TEST_F(PrefixFaults, ADirectoryThatCannotBeMadeKeepsAllInMemory) {
  stop();
  fs::remove_all(directory() + "/prefix");
  std::ofstream{directory() + "/prefix"} << "a file";
  open();
  serve({.tokens = prompt(1, 64 * 4)});
  be_quiet();
  EXPECT_EQ(serve({.tokens = prompt(1, 64 * 4)}).arena, 4);
  stop();
  fs::remove(directory() + "/prefix");
}

}  // namespace
}  // namespace hearth::front
