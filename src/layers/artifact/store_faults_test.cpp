// SPDX-License-Identifier: Apache-2.0
//
// Downloads, uploads and deletions on a disk that fails and loses its power, by seed: nothing wrong
// is ever listed as good, nothing good is lost.
#include <gtest/gtest.h>

#include <map>

#include "base/sha256.h"
#include "base/testing/faulty_files.h"
#include "layers/artifact/blob_store.h"
#include "layers/artifact/catalogue.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"
#include "transfer/part_journal.h"

namespace hearth {
namespace {

using testing::FaultyFiles;
using testing::GgufBuilder;
using testing::TempDir;

constexpr int kSeeds = 100;
constexpr int kStepsEach = 12;
constexpr FaultyFiles::Faults kBadLuck{15, 15};

std::string sha_of(std::string_view bytes) {
  const Digest digest = Sha256{}.add(bytes).finish();
  return hex_of(digest);
}

std::string read_all(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

class Machine {
 public:
  explicit Machine(std::uint64_t seed)
      : random_{seed},
        files_{seed, graves()},
        store_{files_, dir_ / "models"},
        catalogue_{Catalogue::open(":memory:", files_, clock_).value()} {}

  void step() {
    files_.set_faults(kBadLuck);
    switch (random_.next() % 7) {
      case 0:
      case 1:
        return pull();
      case 2:
        return upload();
      case 3:
        return forget_one();
      case 4:
        return prune();
      case 5:
        return rot_and_repair();
      default:
        return lose_power();
    }
  }

  void check() {
    files_.set_faults({});
    const auto blobs = store_.blobs();
    ASSERT_TRUE(blobs) << blobs.error().message();
    for (const BlobStore::Blob& blob : *blobs) {
      ASSERT_EQ(sha_of(read_all(blob.path)), blob.sha256) << "wrong content under a good name";
    }
    for (const auto& [name, sha256] : promised_) {
      const auto model = catalogue_.find(ModelName::parse(name).value());
      ASSERT_TRUE(model) << name;
      const auto now = catalogue_.recheck(model->artifact.id);
      ASSERT_TRUE(now);
      ASSERT_EQ(now->status, ArtifactStatus::kOk) << now->reason;
      // Unknown is fine: the same blob came once more, and its row could not be written.
      ASSERT_EQ(now->content().value_or(sha256), sha256);
      ASSERT_EQ(sha_of(read_all(now->shards.front().path)), sha256) << "lost";
    }
    const auto listed = catalogue_.list();
    for (const NamedModel& model : *listed) {
      if (model.artifact.status != ArtifactStatus::kOk) continue;
      const std::string is = sha_of(read_all(model.artifact.shards.front().path));
      ASSERT_EQ(model.artifact.content().value_or(is), is);
    }
    ASSERT_TRUE(store_.partials());
  }

  int installs() const { return installs_; }
  int repairs() const { return repairs_; }

 private:
  std::string graves() {
    std::filesystem::create_directory(dir_ / "graves");
    return dir_ / "graves";
  }

  std::string make_content() {
    GgufBuilder file = GgufBuilder::small_model();
    file.u32("number", static_cast<std::uint32_t>(random_.next() % 8));
    return file.bytes();
  }

  // As a fetcher would, which syncs what it has written and hashed.
  bool fetch(const BlobStore::OpenPartial& partial, const std::string& content) {
    const auto raw = std::as_bytes(std::span{content});
    transfer::JournalHeader header;
    header.identity.size = Bytes{content.size()};
    const auto begun = transfer::begin_journal(files_, partial.journal, header);
    if (!begun || !files_.resize(partial.data, Bytes{content.size()})) return false;
    if (!files_.write_at(partial.data, 0, raw)) return false;
    const transfer::PartRecord record{static_cast<std::uint32_t>(content.size()),
                                      Sha256{}.add(content).finish()};
    (void)transfer::write_record(files_, partial.journal, begun->salt, 0, record);
    if (files_.sync(partial.data)) return true;
    files_.drop_cached(partial.data, 0, Bytes{content.size()});
    return false;
  }

  void pull() {
    const std::string content = make_content();
    const std::string sha256 = sha_of(content);
    const PartialAbout about{"s", "f", "https://x/f",
                             random_.next() % 2 == 0 ? sha256 : std::string{}, Bytes{}};
    const auto partial = store_.open_partial(about);
    if (!partial || !fetch(*partial, content)) return;
    const auto blob = store_.install(*partial, sha256);
    if (blob) name(*blob);
  }

  void upload() {
    const std::string content = make_content();
    const bool is_right = random_.next() % 3 != 0;
    auto incoming = store_.receive(sha_of(is_right ? content : content + "x"), Bytes{});
    if (!incoming || !incoming->write(content)) return;
    const auto blob = incoming->finish();
    if (!blob) return;
    ASSERT_TRUE(is_right);
    name(*blob);
  }

  void name(const BlobStore::Blob& blob) {
    ++installs_;
    const std::string as = "m" + std::to_string(random_.next() % 5) + ":latest";
    Catalogue::Installed what;
    what.paths = {blob.path};
    what.sha256 = {blob.sha256};
    const auto named = catalogue_.install(ModelName::parse(as).value(), what);
    if (named) promised_[as] = blob.sha256;
  }

  void forget_one() {
    if (promised_.empty()) return;
    const std::string as = promised_.begin()->first;
    ASSERT_TRUE(catalogue_.remove_name(ModelName::parse(as).value()));
    promised_.erase(as);
  }

  // A file goes bad, is read, moved out of the store and fetched again, or only some of that.
  void rot_and_repair() {
    if (promised_.empty()) return;
    const auto [as, sha256] = *promised_.begin();
    const Result<NamedModel> model = catalogue_.find(ModelName::parse(as).value());
    ASSERT_TRUE(model);
    const std::string content = read_all(store_.path_of(sha256));
    const std::string id = model->artifact.id;
    const auto status = catalogue_.note_hashed(id, {sha_of("rotten")});
    if (!status) return;
    ASSERT_EQ(*status, ArtifactStatus::kRotten);
    const PartialAbout about{"s", "f", "https://x/f", sha256, Bytes{content.size()}};
    std::erase_if(promised_, [&](const auto& promise) { return promise.second == sha256; });
    const auto partial = store_.open_repair(about);
    (void)catalogue_.note_absent(id);
    if (!partial || !fetch(*partial, content)) return;
    (void)files_.set_modified(partial->data, 1000 * static_cast<std::int64_t>(++repairs_));
    const auto blob = store_.install(*partial, sha256);
    if (blob) name(*blob);
  }

  void prune() {
    const auto blobs = store_.blobs();
    const auto used = catalogue_.paths_in_use();
    if (!blobs || !used) return;
    for (const BlobStore::Blob& blob : *blobs) {
      if (std::ranges::find(*used, blob.path) == used->end()) (void)store_.remove(blob.sha256);
    }
    const auto partials = store_.partials();
    if (partials && !partials->empty() && random_.next() % 2 == 0) {
      (void)store_.drop_partial(partials->front().key);
    }
  }

  void lose_power() {
    files_.power_cut();
    files_.set_faults({});
    ASSERT_TRUE(store_.sweep());
  }

  TempDir dir_;
  Random random_;
  FaultyFiles files_;
  ManualClock clock_;
  BlobStore store_;
  Catalogue catalogue_;
  std::map<std::string, std::string> promised_;  // name -> what it stands for
  int installs_ = 0;
  int repairs_ = 0;
};

TEST(StoreFaults, NothingWrongIsGoodAndNothingGoodIsLost) {
  int installs = 0, repairs = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine machine{static_cast<std::uint64_t>(seed)};
    for (int i = 0; i < kStepsEach; ++i) {
      machine.step();
      machine.check();
      if (::testing::Test::HasFatalFailure()) return;
    }
    installs += machine.installs();
    repairs += machine.repairs();
  }
  EXPECT_GT(installs, kSeeds);
  EXPECT_GT(repairs, kSeeds / 4);
}

}  // namespace
}  // namespace hearth
