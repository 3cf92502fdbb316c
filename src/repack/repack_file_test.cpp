// SPDX-License-Identifier: Apache-2.0
#include "repack/repack_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "base/random.h"
#include "base/temporary_directory.h"
#include "base/testing/faulty_files.h"
#include "repack/table_code.h"

namespace hearth::repack {
namespace {

Key sample_key() { return {"c0ffee", "engine-1", "", "avx512", "layout-1"}; }

std::vector<Entry> sample_entries() {
  std::vector<Entry> entries(3);
  entries[0] = {"blk.0.ffn_up.weight", 0, 4096, Bytes{5000}, 0, Bytes{5000}, 0};
  entries[1] = {"blk.0.ffn_down.weight", 0, 9096, Bytes{100}, 0, Bytes{128}, 0};
  entries[2] = {"blk.1.ffn_up.weight", 1, 0, Bytes{}, 0, Bytes{4096}, 0};
  return entries;
}

std::vector<std::byte> bytes_of(std::size_t index, Bytes size) {
  std::vector<std::byte> bytes(size.count());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + index * 31 + 1);
  }
  return bytes;
}

Result<Bytes> write_sample(const Files& files, const Fd& file) {
  Result<Writer> writer = Writer::begin(files, file, sample_key(), sample_entries());
  if (!writer) return Failed{writer.error()};
  for (const std::size_t index : {2u, 0u, 1u}) {
    const Result<> added = writer->add(index, bytes_of(index, sample_entries()[index].size));
    if (!added) return Failed{added.error()};
  }
  return writer->finish();
}

// Everything that a load would map is what was written.
void expect_sample(const Files& files, const Fd& file, const Table& table) {
  EXPECT_EQ(table.key, sample_key());
  ASSERT_EQ(table.entries.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Entry& entry = table.entries[i];
    EXPECT_EQ(entry.name, sample_entries()[i].name);
    EXPECT_EQ(entry.source_size, sample_entries()[i].source_size);
    std::vector<std::byte> bytes(entry.size.count());
    ASSERT_EQ(files.read_at(file, entry.offset, bytes).value(), bytes.size());
    EXPECT_EQ(bytes, bytes_of(i, entry.size));
    EXPECT_EQ(checksum_of(bytes), entry.checksum);
  }
}

class RepackFile : public ::testing::Test {
 protected:
  std::string path() const { return directory_.path() + "/repack"; }
  Fd create() const { return std::move(*Files::real().open_write(path(), Files::Create::kAlways)); }
  std::vector<std::byte> content() const {
    const Fd file = std::move(*Files::real().open_read(path()));
    std::vector<std::byte> bytes(Files::real().info(file)->size.count());
    EXPECT_EQ(Files::real().read_at(file, 0, bytes).value(), bytes.size());
    return bytes;
  }
  Result<Table> read_back(std::span<const std::byte> bytes) const {
    const std::string at = directory_.path() + "/changed";
    const Fd file = std::move(*Files::real().open_write(at, Files::Create::kIfMissing));
    EXPECT_TRUE(Files::real().resize(file, Bytes{bytes.size()}));
    EXPECT_TRUE(Files::real().write_at(file, 0, bytes));
    return read_table(Files::real(), file);
  }

  TemporaryDirectory directory_;
};

TEST_F(RepackFile, GivesBackWhatWasWritten) {
  const Fd file = create();
  const Result<Bytes> size = write_sample(Files::real(), file);
  ASSERT_TRUE(size) << size.error().message();
  EXPECT_EQ(Files::real().info(file)->size, *size);
  const Result<Table> table = read_table(Files::real(), file);
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->file_size, *size);
  expect_sample(Files::real(), file, *table);
  for (const Entry& entry : table->entries) EXPECT_EQ(entry.offset % kAlignment, 0u);
}

TEST_F(RepackFile, IsNoneUntilItIsFinished) {
  const Fd file = create();
  Result<Writer> writer = Writer::begin(Files::real(), file, sample_key(), sample_entries());
  ASSERT_TRUE(writer);
  EXPECT_EQ(read_table(Files::real(), file).error().code(), ErrorCode::kCorrupt);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(writer->finish().error().code(), ErrorCode::kInternal);
    ASSERT_TRUE(writer->add(i, bytes_of(i, sample_entries()[i].size)));
    EXPECT_FALSE(read_table(Files::real(), file));
  }
  EXPECT_FALSE(writer->add(1, bytes_of(1, Bytes{128})));  // twice
  ASSERT_TRUE(writer->finish());
  EXPECT_TRUE(read_table(Files::real(), file));
}

TEST_F(RepackFile, RefusesToWriteWhatItWouldNotRead) {
  struct Case {
    const char* name;
    std::function<void(std::vector<Entry>&)> change;
  };
  const Case cases[] = {
      {"nothing", [](auto& entries) { entries.clear(); }},
      {"an empty entry", [](auto& entries) { entries[1].size = Bytes{}; }},
      {"sources that overlap", [](auto& entries) { entries[1].source_offset = 9095; }},
      {"a source without end",
       [](auto& entries) { entries[0].source_offset = std::numeric_limits<std::uint64_t>::max(); }},
      {"a shard before the first", [](auto& entries) { entries[0].shard = -1; }},
  };
  const Fd file = create();
  for (const Case& each : cases) {
    std::vector<Entry> entries = sample_entries();
    each.change(entries);
    const auto writer = Writer::begin(Files::real(), file, sample_key(), entries);
    ASSERT_FALSE(writer) << each.name;
    EXPECT_EQ(writer.error().code(), ErrorCode::kInternal) << each.name;
  }
}

TEST_F(RepackFile, TellsWhichPartOfTheKeyDiffers) {
  struct Case {
    std::string Key::* part;
    std::string_view told;
  };
  for (const Case& each :
       {Case{&Key::content, "model"}, Case{&Key::engine, "engine"}, Case{&Key::driver, "driver"},
        Case{&Key::hardware, "hardware"}, Case{&Key::layout, "layout"}}) {
    Key other = sample_key();
    other.*each.part += "x";
    EXPECT_EQ(difference(sample_key(), other), each.told);
  }
  EXPECT_EQ(difference(sample_key(), sample_key()), "");
}

TEST_F(RepackFile, TruncatedAnywhereItIsRefused) {
  ASSERT_TRUE(write_sample(Files::real(), create()));
  const std::vector<std::byte> whole = content();
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const Result<Table> table = read_back(std::span{whole}.first(size));
    ASSERT_FALSE(table) << size;
    EXPECT_EQ(table.error().code(), ErrorCode::kCorrupt);
  }
  std::vector<std::byte> longer = whole;
  longer.push_back({});
  EXPECT_FALSE(read_back(longer));
}

TEST_F(RepackFile, ChangedAnywhereItIsRefusedOrTheSame) {
  ASSERT_TRUE(write_sample(Files::real(), create()));
  const std::vector<std::byte> whole = content();
  const Result<Table> right = read_back(whole);
  ASSERT_TRUE(right);
  const std::size_t table_end = encode(*right).size();
  Random random{20};
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::byte> changed = whole;
    for (std::uint64_t n = random.next() % 4 + 1; n > 0; --n) {
      changed[random.next() % (table_end + 64)] = static_cast<std::byte>(random.next());
    }
    const Result<Table> table = read_back(changed);
    if (!table) continue;
    EXPECT_EQ(encode(*table), encode(*right));
  }
}

// With the checksum made right again: what only a bug or a forger would write.
TEST_F(RepackFile, HostileNumbersCostNoMemoryAndAreNotBelieved) {
  Table table{sample_key(), sample_entries(), {}};
  const std::uint64_t first = first_offset(table);
  table.entries[0].offset = first;
  table.entries[1].offset = first + 8192;
  table.entries[2].offset = first + 12288;
  table.file_size = Bytes{first + 16384};
  Random random{21};
  const std::vector<std::byte> code = encode(table);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> body{code.begin() + kHeadSize, code.end()};
    const std::size_t at = random.next() % body.size();
    body[at] = static_cast<std::byte>(random.next());
    std::vector<std::byte> forged{code.begin(), code.begin() + 32};
    std::vector<std::byte> covered = forged;
    covered.insert(covered.end(), body.begin(), body.end());
    forged.resize(kHeadSize);
    forged.insert(forged.end(), body.begin(), body.end());
    const Head head{table.file_size, body.size(), checksum_of(covered)};
    const Result<Table> read = decode_table(head, forged);
    if (!read) continue;
    std::uint64_t end = first_offset(*read);
    for (const Entry& entry : read->entries) {
      ASSERT_GE(entry.offset, end);
      end = entry.offset + entry.size.count();
    }
    ASSERT_EQ(Bytes{end}, read->file_size);
  }
}

TEST_F(RepackFile, ALongTableIsNotRead) {
  std::vector<std::byte> forged(kHeadSize + 100);
  ASSERT_TRUE(write_sample(Files::real(), create()));
  const std::vector<std::byte> whole = content();
  std::copy(whole.begin(), whole.begin() + kHeadSize, forged.begin());
  for (std::size_t i = 16; i < 32; ++i) forged[i] = std::byte{0xff};
  EXPECT_EQ(
      decode_head(std::span{forged}.first(kHeadSize), Bytes{~std::uint64_t{0}}).error().code(),
      ErrorCode::kCorrupt);
}

TEST_F(RepackFile, APowerCutOrAFullDiskAtAnyStepLeavesNothingWrong) {
  int steps = 0;
  for (int failing = 1; failing <= 20; ++failing) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const TemporaryDirectory place;
      hearth::testing::FaultyFiles files{seed * 100 + static_cast<std::uint64_t>(failing),
                                         place.path()};
      const std::string at = place.path() + "/repack";
      files.fail_change(failing, seed % 2 == 0 ? ErrorCode::kNoSpace : ErrorCode::kUnavailable);
      bool done = false;
      if (const Result<Fd> file = files.open_write(at, Files::Create::kAlways)) {
        done = write_sample(files, *file).has_value();
      }
      steps = std::max(steps, files.changes());
      files.fail_change(0, ErrorCode::kNoSpace);
      files.power_cut();
      const Result<Fd> after = Files::real().open_read(at);
      if (!after) continue;
      const Result<Table> table = read_table(Files::real(), *after);
      if (table) expect_sample(Files::real(), *after, *table);
      EXPECT_TRUE(table.has_value() || !done) << "finished, and gone";
    }
  }
  EXPECT_GT(steps, 7);
  EXPECT_LT(steps, 20);
}

TEST_F(RepackFile, RunsOutOfRoomWithItsOwnWord) {
  hearth::testing::FaultyFiles files{1, directory_.path()};
  const Fd file = create();
  files.set_room(Bytes{6000});
  const Result<Bytes> written = write_sample(files, file);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::kNoSpace);
  EXPECT_FALSE(read_table(Files::real(), file));
}

}  // namespace
}  // namespace hearth::repack
