// SPDX-License-Identifier: Apache-2.0
#include "front/verify/prune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using hearth::testing::TempDir;
using What = Service::Prune;

class PruneTest : public ::testing::Test {
 protected:
  PruneTest() {
    auto opened = Catalogue::open(directory_ / "catalogue.db", Files::real(), clock_);
    EXPECT_TRUE(opened);
    catalogue_.emplace(std::move(*opened));
  }

  PruneWorld world(std::chrono::hours later = std::chrono::hours{2}) const {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(later).count();
    return {Files::real(), store_, notes_, Clock::real().wall_us() + us};
  }
  std::string add_blob(const std::string& bytes, BlobStore& store) {
    std::string sha256 = hex_of(Sha256{}.add(bytes).finish());
    auto incoming = store.receive(sha256, Bytes{});
    EXPECT_TRUE(incoming && incoming->write(bytes) && incoming->finish());
    return sha256;
  }
  std::string add_blob(const std::string& bytes) { return add_blob(bytes, store_); }
  void install(const std::string& name, const std::string& path, const std::string& sha256) {
    Catalogue::Installed model;
    model.paths = {path};
    model.sha256 = {sha256};
    EXPECT_TRUE(catalogue_->install(*ModelName::parse(name), model));
  }
  static std::string said(const Result<std::vector<Prunable>>& found) {
    std::string text;
    for (const Prunable& one : *found) {
      text += one.kind + " " + one.what.substr(0, 12) + " " + std::to_string(one.bytes) + "\n";
    }
    return text;
  }

  TempDir directory_;
  ManualClock clock_;
  BlobStore store_{Files::real(), directory_ / "models"};
  HashNotes notes_{Files::real(), directory_ / "models/verify"};
  std::optional<Catalogue> catalogue_;
};

TEST_F(PruneTest, NothingToDoBeforeThereIsAStore) {
  EXPECT_EQ(said(prune_store(world(), *catalogue_, What::kDelete)), "");
  EXPECT_EQ(said(prunable_parts(world(), {})), "");
}

TEST_F(PruneTest, BlobsWithoutAModelGo) {
  const std::string used = add_blob(hearth::testing::GgufBuilder::small_model().bytes());
  install("tiny", store_.path_of(used), used);
  const std::string unused = add_blob("nobody's");
  const std::string want = "unused sha256:" + unused.substr(0, 5) + " 8\n";
  EXPECT_EQ(said(prune_store(world(std::chrono::hours{0}), *catalogue_, What::kDelete)), "")
      << "it may be about to get its name";
  EXPECT_EQ(said(prune_store(world(), *catalogue_, What::kShow)), want);
  EXPECT_TRUE(store_.blob(unused)) << "shown, not deleted";
  EXPECT_EQ(said(prune_store(world(), *catalogue_, What::kDelete)), want);
  EXPECT_FALSE(store_.blob(unused));
  EXPECT_TRUE(store_.blob(used));
}

TEST_F(PruneTest, AStoreBehindALinkIsInUseToo) {
  std::filesystem::create_directory(directory_ / "real");
  std::filesystem::create_directory_symlink(directory_ / "real", directory_ / "link");
  BlobStore store{Files::real(), directory_ / "link/models"};
  const std::string used = add_blob(hearth::testing::GgufBuilder::small_model().bytes(), store);
  install("tiny", store.path_of(used), used);
  const PruneWorld world{Files::real(), store, notes_, this->world().now_us};
  EXPECT_EQ(said(prune_store(world, *catalogue_, What::kDelete)), "");
  EXPECT_TRUE(store.blob(used));
}

TEST_F(PruneTest, FilesOfAnAbsentModelAreNotInUse) {
  const std::string blob = add_blob(hearth::testing::GgufBuilder::small_model().bytes());
  install("tiny", store_.path_of(blob), blob);
  ASSERT_TRUE(catalogue_->note_absent(catalogue_->list()->front().artifact.id));
  (void)prune_store(world(), *catalogue_, What::kDelete);
  EXPECT_FALSE(store_.blob(blob));
}

TEST_F(PruneTest, PartsOfStoppedPulls) {
  const PartialAbout about{"hf.co/a/b:Q4", "b.gguf", "https://x.example/b", std::string(64, 'a'),
                           Bytes{100}};
  std::string key;
  {
    const auto open = store_.open_partial(about);
    ASSERT_TRUE(open);
    key = open->key;
    ASSERT_TRUE(Files::real().resize(open->data, Bytes{70}));
  }
  EXPECT_EQ(said(prunable_parts(world(), {key})), "") << "under way";
  const auto found = prunable_parts(world(), {});
  EXPECT_EQ(said(found), "partial hf.co/a/b:Q4 70\n");
  EXPECT_THAT(found->front().why, ::testing::HasSubstr("2 hours"));
}

TEST_F(PruneTest, NotesOfFilesThatAreNoMore) {
  notes_.keep_parts(std::string(64, 'b'), {Digest{}});
  EXPECT_THAT(said(prune_store(world(), *catalogue_, What::kShow)),
              ::testing::StartsWith("leftover"));
  EXPECT_THAT(said(prune_store(world(), *catalogue_, What::kDelete)),
              ::testing::StartsWith("leftover"));
  EXPECT_EQ(said(prune_store(world(), *catalogue_, What::kShow)), "");
}

}  // namespace
}  // namespace hearth::front
