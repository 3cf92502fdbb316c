// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/blob_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json.hpp>

#include "base/sha256.h"
#include "base/testing/forwarding_files.h"
#include "layers/testing/temp_dir.h"
#include "transfer/part_journal.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;
using OpenPartial = BlobStore::OpenPartial;

std::string sha_of(std::string_view bytes) {
  const Digest digest = Sha256{}.add(bytes).finish();
  return hex_of(digest);
}

// A disk with little room.
class SmallDisk : public testing::ForwardingFiles {
 public:
  Result<Space> space(const std::string& path) const override {
    if (!info(path)) return fail(ErrorCode::kNotFound, "no such file");
    return Space{Bytes{std::uint64_t{1288490189}}, Bytes{std::uint64_t{1} << 40}};
  }
};

class BlobStoreTest : public ::testing::Test {
 protected:
  std::string read(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  PartialAbout about(std::string_view content) {
    return PartialAbout{"hf.co/o/r", "r.gguf", "https://x/r.gguf", sha_of(content),
                        Bytes{content.size()}};
  }
  void fill(const OpenPartial& partial, std::string_view content) {
    ASSERT_TRUE(Files::real().write_at(partial.data, 0, std::as_bytes(std::span{content})));
    transfer::JournalHeader header;
    header.identity.size = Bytes{content.size()};
    const auto begun = transfer::begin_journal(Files::real(), partial.journal, header);
    ASSERT_TRUE(begun);
    const transfer::PartRecord record{static_cast<std::uint32_t>(content.size()),
                                      Sha256{}.add(content).finish()};
    ASSERT_TRUE(transfer::write_record(Files::real(), partial.journal, begun->salt, 0, record));
  }
  BlobStore::Blob installed(std::string_view content) {
    Result<OpenPartial> partial = store_.open_partial(about(content));
    EXPECT_TRUE(partial) << partial.error().message();
    fill(*partial, content);
    const auto blob = store_.install(*partial, sha_of(content));
    EXPECT_TRUE(blob) << blob.error().message();
    return *blob;
  }

  TempDir dir_;
  BlobStore store_{Files::real(), dir_ / "data/models"};
};

TEST_F(BlobStoreTest, IsEmptyAndMakesNothingUntilItIsWrittenTo) {
  EXPECT_TRUE(store_.blobs()->empty());
  EXPECT_TRUE(store_.partials()->empty());
  EXPECT_TRUE(store_.sweep());
  EXPECT_TRUE(store_.require(Bytes{1}));
  EXPECT_EQ(store_.blob(sha_of("x")).error().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "data"));
}

TEST_F(BlobStoreTest, InstallsADownloadForItsOwnerOnly) {
  const BlobStore::Blob blob = installed("some content");
  EXPECT_EQ(blob.path, dir_ / "data/models/blobs/sha256-" + sha_of("some content"));
  EXPECT_EQ(read(blob.path), "some content");
  EXPECT_EQ(blob.size, Bytes{12});
  struct stat status{};
  ASSERT_EQ(::stat(blob.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat((dir_ / "data/models/blobs").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_TRUE(store_.partials()->empty());
  const auto parts = store_.parts(blob.sha256);
  ASSERT_TRUE(parts) << parts.error().message();
  EXPECT_EQ(parts->parts.size(), 1U);
  ASSERT_EQ(store_.blobs()->size(), 1U);
  EXPECT_EQ(store_.remove(blob.sha256), Bytes{12});
  EXPECT_EQ(store_.remove(blob.sha256).error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "data/models/blobs"));
}

TEST_F(BlobStoreTest, InstallsTwiceAndOnlyWhatWasHashed) {
  Result<OpenPartial> partial = store_.open_partial(about("content"));
  fill(*partial, "content");
  EXPECT_EQ(store_.install(*partial, "../../etc/passwd").error().code(), ErrorCode::kInvalid);
  ASSERT_TRUE(store_.install(*partial, sha_of("content")));
  EXPECT_TRUE(store_.install(*partial, sha_of("content")));
  EXPECT_EQ(store_.install(*partial, sha_of("other")).error().code(), ErrorCode::kNotFound);
  Result<OpenPartial> fresh = store_.open_partial(about("content"));
  EXPECT_EQ(store_.install(*partial, sha_of("content")).error().code(), ErrorCode::kConflict);
}

TEST_F(BlobStoreTest, KeepsWhatHasArrivedAndTellsOfIt) {
  {
    Result<OpenPartial> partial = store_.open_partial(about("half"));
    fill(*partial, "half");
    EXPECT_EQ(store_.open_partial(about("half")).error().code(), ErrorCode::kConflict);
    EXPECT_EQ(store_.drop_partial(partial->key).error().code(), ErrorCode::kConflict);
  }
  const auto partials = store_.partials();
  ASSERT_EQ(partials->size(), 1U);
  const BlobStore::Partial& kept = partials->front();
  EXPECT_EQ(kept.key, "sha256-" + sha_of("half"));
  EXPECT_EQ(kept.about, about("half"));
  EXPECT_EQ(kept.arrived, Bytes{4});
  EXPECT_EQ(kept.size, Bytes{4});
  EXPECT_GT(kept.touched_us, 0);
  Result<OpenPartial> again = store_.open_partial(about("half"));
  EXPECT_EQ(Files::real().info(again->data)->size, Bytes{4});
  again = fail(ErrorCode::kCancelled, "");
  ASSERT_TRUE(store_.drop_partial(kept.key));
  EXPECT_TRUE(store_.partials()->empty());
  EXPECT_EQ(store_.drop_partial(kept.key).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store_.drop_partial("../blobs").error().code(), ErrorCode::kNotFound);
}

TEST_F(BlobStoreTest, RoomThatIsTakenForADownloadCounts) {
  const Result<BlobStore::OpenPartial> partial = store_.open_partial(about("x"));
  ASSERT_TRUE(partial);
  ASSERT_TRUE(Files::real().allocate(partial->data, Bytes{1 << 20}));
  ASSERT_EQ(Files::real().info(partial->data)->size, Bytes{});
  EXPECT_GE(store_.partials()->at(0).on_disk, Bytes{1 << 20});
}

TEST_F(BlobStoreTest, KeysAreByContentElseByPlace) {
  PartialAbout promised = about("x");
  promised.url = "https://mirror/r.gguf";
  EXPECT_EQ(BlobStore::key_of(promised), BlobStore::key_of(about("x")));
  promised.sha256.clear();
  PartialAbout other = promised;
  other.url += "?v=2";
  EXPECT_NE(BlobStore::key_of(promised), BlobStore::key_of(other));
  EXPECT_TRUE(store_.open_partial(promised));
  promised.sha256 = "../../x";
  EXPECT_EQ(store_.open_partial(promised).error().code(), ErrorCode::kInvalid);
}

TEST_F(BlobStoreTest, AJournalWithoutItsDataIsNotBelieved) {
  fill(*store_.open_partial(about("gone")), "gone");
  std::filesystem::remove(dir_ / ("data/models/partial/sha256-" + sha_of("gone") + "/data"));
  const Result<OpenPartial> partial = store_.open_partial(about("gone"));
  EXPECT_FALSE(transfer::read_journal(Files::real(), partial->journal));
}

TEST_F(BlobStoreTest, ARottenBlobBecomesADownloadOfWhatIsWrong) {
  const BlobStore::Blob blob = installed("good bytes");
  std::ofstream{blob.path, std::ios::binary} << "bad  bytes";
  {
    const Result<OpenPartial> repair = store_.open_repair(about("good bytes"));
    ASSERT_TRUE(repair) << repair.error().message();
    const auto journal = transfer::read_journal(Files::real(), repair->journal);
    ASSERT_TRUE(journal) << journal.error().message();
    EXPECT_EQ(journal->parts.front().digest, Sha256{}.add("good bytes").finish());
    EXPECT_TRUE(store_.blobs()->empty());
    ASSERT_TRUE(Files::real().write_at(repair->data, 0, std::as_bytes(std::span{"good ", 5})));
    ASSERT_TRUE(store_.install(*repair, sha_of("good bytes")));
  }
  EXPECT_EQ(read(blob.path), "good bytes");
  EXPECT_EQ(store_.open_repair(about("other")).error().code(), ErrorCode::kNotFound);
}

TEST_F(BlobStoreTest, TakesAnUploadOnlyIfItIsRight) {
  Result<BlobStore::Incoming> right = store_.receive(sha_of("hello"), Bytes{5});
  ASSERT_TRUE(right) << right.error().message();
  Result<BlobStore::Incoming> wrong = store_.receive(sha_of("hello"), Bytes{});
  ASSERT_TRUE(right->write("hel") && right->write("lo") && wrong->write("hullo"));
  EXPECT_TRUE(store_.blobs()->empty());
  EXPECT_TRUE(right->finish());
  EXPECT_EQ(wrong->finish().error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(read(store_.path_of(sha_of("hello"))), "hello");
  EXPECT_EQ(store_.receive("../x", Bytes{}).error().code(), ErrorCode::kInvalid);
  wrong = fail(ErrorCode::kCancelled, "");
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "data/models/incoming"));
  dir_.write("data/models/incoming/left", "x");
  ASSERT_TRUE(store_.sweep());
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "data/models/incoming"));
}

TEST_F(BlobStoreTest, SaysWhatRoomIsMissingAndWhere) {
  const SmallDisk disk;
  const BlobStore store{disk, dir_ / "data/models"};
  const auto room = store.require(Bytes{std::uint64_t{4402341478}});
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(room.error().message(), "needs 4.1 GiB, 1.2 GiB are free on " + dir_.path() +
                                        "/data/models; free some or set `data` elsewhere");
}

TEST_F(BlobStoreTest, AFolderThatCannotBeWrittenToIsNamedWithARemedy) {
  dir_.write("data", "a file in the way");
  const auto partial = store_.open_partial(about("x"));
  ASSERT_FALSE(partial);
  EXPECT_EQ(partial.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(partial.error().message(), HasSubstr("must be able to write to " + dir_.path()));
}

}  // namespace
}  // namespace hearth
