// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/verify/file_hash.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/random.h"
#include "base/testing/forwarding_files.h"
#include "layers/artifact/verify/hash_notes.h"
#include "layers/pages/residency.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using namespace literals;
using testing::TempDir;

std::string content_of(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t x = 1;
  for (char& c : text) c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  return text;
}

std::string sha_of(std::string_view text) { return hex_of(Sha256{}.add(text).finish()); }

FileInfo info_of(const std::string& path) { return *Files::real().info(path); }

void flip_byte(const std::string& path, std::uint64_t at) {
  std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
  file.seekg(static_cast<std::streamoff>(at));
  const int old = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(old ^ 0x40));
}

Result<FileHash::Hashed> hash_all(FileHash& hash) {
  while (!hash.done()) {
    if (auto stepped = hash.step(); !stepped) return Failed{std::move(stepped).error()};
  }
  return hash.finish();
}

class FileHashSize : public ::testing::TestWithParam<std::size_t> {};

TEST_P(FileHashSize, HashesWholeAndParts) {
  const TempDir directory;
  const std::string text = content_of(GetParam());
  const std::string path = directory.write("model", text);
  Result<FileHash> hash = FileHash::open(Files::real(), path, info_of(path));
  ASSERT_TRUE(hash) << hash.error().message();
  const Result<FileHash::Hashed> hashed = hash_all(*hash);
  ASSERT_TRUE(hashed) << hashed.error().message();
  EXPECT_EQ(hashed->sha256, sha_of(text));
  const std::size_t part = FileHash::kPart.count();
  ASSERT_EQ(hashed->parts.size(), (text.size() + part - 1) / part);
  for (std::size_t i = 0; i < hashed->parts.size(); ++i) {
    EXPECT_EQ(hex_of(hashed->parts[i]), sha_of(std::string_view{text}.substr(i * part, part)));
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, FileHashSize,
                         ::testing::Values(0, 1, 4096, (4 << 20) - 1, 4 << 20, (4 << 20) + 1,
                                           (16 << 20), (21 << 20) + 77));

TEST(FileHash, GoesOnWhereAnotherStopped) {
  const TempDir directory;
  const std::string text = content_of((37 << 20) + 5);
  const std::string path = directory.write("model", text);
  const HashNotes notes{Files::real(), directory / "notes"};
  {
    Result<FileHash> first = FileHash::open(Files::real(), path, info_of(path));
    ASSERT_TRUE(first && first->step());
    notes.keep(path, info_of(path), first->progress());
  }
  const HashProgress kept = notes.unfinished(path, info_of(path));
  EXPECT_EQ(kept.parts.size(), 4U);
  Result<FileHash> second = FileHash::open(Files::real(), path, info_of(path), kept);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->position(), 16_MiB);
  const Result<FileHash::Hashed> hashed = hash_all(*second);
  ASSERT_TRUE(hashed);
  EXPECT_EQ(hashed->sha256, sha_of(text));
  EXPECT_EQ(hashed->parts.size(), 10U);
}

TEST(FileHash, SeesAWriteBetweenSteps) {
  const TempDir directory;
  const std::string path = directory.write("model", content_of(20 << 20));
  Result<FileHash> hash = FileHash::open(Files::real(), path, info_of(path));
  ASSERT_TRUE(hash && hash->step());
  flip_byte(path, 3);
  const Result<> stepped = hash->step();
  ASSERT_FALSE(stepped);
  EXPECT_EQ(stepped.error().code(), ErrorCode::kConflict);
}

TEST(FileHash, SeesAnotherFileInItsPlace) {
  const TempDir directory;
  const std::string path = directory.write("model", content_of(20 << 20));
  Result<FileHash> hash = FileHash::open(Files::real(), path, info_of(path));
  ASSERT_TRUE(hash && hash->step());
  std::filesystem::rename(directory.write("other", "x"), path);
  const Result<> stepped = hash->step();
  ASSERT_FALSE(stepped);
  EXPECT_EQ(stepped.error().code(), ErrorCode::kConflict);
}

TEST(FileHash, RefusesAVersionThatWasNotMeant) {
  const TempDir directory;
  const std::string path = directory.write("model", "one");
  const FileInfo noted = info_of(path);
  std::filesystem::rename(directory.write("other", "two"), path);
  const Result<FileHash> hash = FileHash::open(Files::real(), path, noted);
  ASSERT_FALSE(hash);
  EXPECT_EQ(hash.error().code(), ErrorCode::kConflict);
}

TEST(FileHash, SaysThatItIsGone) {
  const TempDir directory;
  const Result<FileHash> hash = FileHash::open(Files::real(), directory / "none", FileInfo{});
  ASSERT_FALSE(hash);
  EXPECT_EQ(hash.error().code(), ErrorCode::kNotFound);
}

TEST(FileHash, ABadPartIsFoundByNumber) {
  const TempDir directory;
  const std::string path = directory.write("model", content_of(21 << 20));
  Result<FileHash> before = FileHash::open(Files::real(), path, info_of(path));
  const Result<FileHash::Hashed> sound = hash_all(*before);
  flip_byte(path, (9 << 20) + 1);
  Result<FileHash> after = FileHash::open(Files::real(), path, info_of(path));
  const Result<FileHash::Hashed> rotten = hash_all(*after);
  ASSERT_TRUE(sound && rotten);
  EXPECT_NE(sound->sha256, rotten->sha256);
  EXPECT_EQ(differing(sound->parts, rotten->parts), std::vector<std::size_t>{2});
  EXPECT_EQ(part_range(5, 21_MiB), (Range{20 << 20, 1_MiB}));
}

// Whole pages of the file that are in the cache now; nullopt where the kernel does not say.
std::optional<Bytes> resident(const std::string& path, Range range) {
  const Result<Fd> file = Files::real().open_read(path);
  const Residency now = residency_of(*file, range);
  if (now.method == ResidencyMethod::kUnknown) return std::nullopt;
  return now.resident;
}

// Out of the cache as far as the file system can do that (in memory, it cannot).
void drop_all(const std::string& path) {
  const Result<Fd> file = Files::real().open_read(path);
  ASSERT_EQ(::fsync(file->get()), 0);
  Files::real().drop_cached(*file, 0, Bytes{});
}

TEST(FileHash, LeavesThePageCacheAsItWas) {
  const TempDir directory;
  const std::string path = directory.write("model", content_of(24 << 20));
  const Range whole{0, 24_MiB};
  drop_all(path);
  if (resident(path, whole) != Bytes{}) GTEST_SKIP() << "this file system keeps its pages";
  {
    // Somebody uses a piece that begins and ends within parts.
    const Result<Fd> file = Files::real().open_read(path);
    ::posix_fadvise(file->get(), 0, 0, POSIX_FADV_RANDOM);
    std::vector<std::byte> buffer((6 << 20) + 8192);
    ASSERT_TRUE(Files::real().read_at(*file, (3 << 20) + 4096, buffer));
  }
  const std::optional<Bytes> before = resident(path, whole);
  ASSERT_TRUE(before && *before >= 6_MiB && *before < 8_MiB) << before->count();
  Result<FileHash> hash = FileHash::open(Files::real(), path, info_of(path));
  ASSERT_TRUE(hash && hash_all(*hash));
  EXPECT_EQ(resident(path, whole), before);
}

// ---- notes ----

TEST(HashNotes, KeepWhatTheyWereGivenAndNothingElse) {
  const TempDir directory;
  const HashNotes notes{Files::real(), directory / "notes"};
  FileInfo file;
  file.inode = 7;
  EXPECT_EQ(notes.unfinished("/m", file), HashProgress{});
  HashProgress progress;
  progress.state.bytes = FileHash::kPart.count();
  progress.state.words[0] = 42;
  progress.parts = {Sha256{}.add("x").finish()};
  notes.keep("/m", file, progress);
  EXPECT_EQ(notes.unfinished("/m", file), progress);
  FileInfo newer = file;
  newer.modified_ns = 1;
  EXPECT_EQ(notes.unfinished("/m", newer), HashProgress{});
  notes.keep_parts("ab", progress.parts);
  EXPECT_EQ(notes.parts("ab"), progress.parts);
  EXPECT_EQ(notes.parts("cd"), std::nullopt);
  EXPECT_EQ(notes.run_began_us(), 0);
  notes.keep_run(77);
  EXPECT_EQ(notes.run_began_us(), 77);
  notes.end_run();
  EXPECT_EQ(notes.run_began_us(), 0);
  EXPECT_EQ(notes.last_content("/m"), std::nullopt);
  notes.keep_last("/m", "ab");
  EXPECT_EQ(notes.last_content("/m"), "ab");
  EXPECT_EQ(notes.leftovers({{HashNotes::note_name("/m", file)}, {"ab"}, {"/m"}}).size(), 0U);
  EXPECT_EQ(notes.leftovers({}).size(), 3U);
  notes.forget("/m", file);
  EXPECT_EQ(notes.unfinished("/m", file), HashProgress{});
}

TEST(HashNotes, ADamagedNoteIsNone) {
  Random random{11};
  const TempDir directory;
  const HashNotes notes{Files::real(), directory / "notes"};
  const std::vector<Digest> parts(5, Sha256{}.add("x").finish());
  for (int i = 0; i < 200; ++i) {
    notes.keep_parts("ab", parts);
    ASSERT_TRUE(notes.parts("ab"));
    const std::string path = directory / "notes/ab.parts";
    const auto size = std::filesystem::file_size(path);
    if (i % 2 == 0) {
      flip_byte(path, random.next() % size);
    } else {
      std::filesystem::resize_file(path, random.next() % size);
    }
    EXPECT_EQ(notes.parts("ab"), std::nullopt);
  }
}

class FullDisk : public testing::ForwardingFiles {
 public:
  Result<> write_at(const Fd&, std::uint64_t, std::span<const std::byte>) const override {
    return fail(ErrorCode::kNoSpace, "write: no space left on device");
  }
};

TEST(HashNotes, AFullDiskCostsNothingButTheNote) {
  const TempDir directory;
  const HashNotes sound{Files::real(), directory / "notes"};
  const std::vector<Digest> parts(3, Sha256{}.add("x").finish());
  sound.keep_parts("ab", parts);
  const FullDisk full;
  const HashNotes notes{full, directory / "notes"};
  notes.keep_parts("ab", std::vector<Digest>(4, parts[0]));
  EXPECT_EQ(sound.parts("ab"), parts) << "what was there stays";
  EXPECT_EQ(sound.leftovers({{}, {"ab"}, {}}).size(), 0U);
}

}  // namespace
}  // namespace hearth
