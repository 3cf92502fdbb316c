// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sqlite.h"
#include "layers/artifact/artifact_json.h"
#include "layers/artifact/artifact_layer.h"
#include "layers/testing/failing_files.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using testing::FailingFiles;
using testing::GgufBuilder;
using ::testing::HasSubstr;
using testing::TempDir;

ModelName named(std::string_view text) { return ModelName::parse(text).value(); }

class CatalogueTest : public ::testing::Test {
 protected:
  CatalogueTest() { reopen(); }

  void reopen() {
    catalogue_.reset();
    Result<Catalogue> opened = Catalogue::open(dir_ / "catalogue.db", Files::real(), clock_);
    ASSERT_TRUE(opened) << opened.error().message();
    catalogue_.emplace(std::move(*opened));
  }

  // `model_name` has four letters, as the one that it replaces.
  std::string small(std::string_view file, std::string_view model_name = "Tiny") {
    std::string bytes = GgufBuilder::small_model().bytes();
    bytes.replace(bytes.find("Tiny"), 4, model_name);
    return dir_.write(file, bytes);
  }

  // A model of `count` files of one tensor each; one of them, if any, is not written.
  void write_set(int count, int left_out) {
    for (int i = 1; i <= count; ++i) {
      if (i == left_out) continue;
      GgufBuilder file;
      if (i == 1) file.text("general.architecture", "llama").text("general.name", "Set");
      file.u16("split.no", static_cast<std::uint16_t>(i - 1));
      file.u16("split.count", static_cast<std::uint16_t>(count));
      file.i32("split.tensors.count", count);
      file.tensor("t" + std::to_string(i), {32}, 0, 128);
      dir_.write("set-0000" + std::to_string(i) + "-of-0000" + std::to_string(count) + ".gguf",
                 file.bytes());
    }
  }

  std::vector<std::string> names() {
    std::vector<std::string> out;
    const auto listed = catalogue_->list();
    for (const NamedModel& model : *listed) out.push_back(model.name);
    return out;
  }

  TempDir dir_;
  ManualClock clock_;
  std::optional<Catalogue> catalogue_;
};

TEST_F(CatalogueTest, ImportsByReference) {
  const std::string path = small("a.gguf");
  const Result<NamedModel> model = catalogue_->import(path, named("Tiny"));
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(model->name, "Tiny:latest");
  EXPECT_EQ(model->created_at_us, clock_.wall_us());
  EXPECT_EQ(model->artifact.id.size(), 64U);
  EXPECT_EQ(model->artifact.shards.front().path, path);
  EXPECT_EQ(model->artifact.facts.architecture, "llama");
  EXPECT_EQ(model->artifact.status, ArtifactStatus::kOk);
  EXPECT_EQ(size_of(model->artifact.load_set()), model->artifact.size());
}

TEST_F(CatalogueTest, FindsWhateverTheCase) {
  ASSERT_TRUE(catalogue_->import(small("a.gguf"), named("Tiny:Q4")));
  const Result<NamedModel> found = catalogue_->find(named("tINY:q4"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "Tiny:Q4");
  EXPECT_EQ(catalogue_->find(named("tiny")).error().code(), ErrorCode::kNotFound);
}

TEST_F(CatalogueTest, SurvivesARestart) {
  const Result<NamedModel> before = catalogue_->import(small("a.gguf"), named("tiny"));
  ASSERT_TRUE(before);
  clock_.advance(std::chrono::seconds{5});
  ASSERT_TRUE(catalogue_->touch(before->artifact.id));
  reopen();
  const Result<NamedModel> after = catalogue_->find(named("tiny"));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->artifact.id, before->artifact.id);
  EXPECT_EQ(after->artifact.facts, before->artifact.facts);
  EXPECT_EQ(after->artifact.shards.front().file, before->artifact.shards.front().file);
  EXPECT_EQ(after->artifact.shards.front().ranges, before->artifact.shards.front().ranges);
  EXPECT_EQ(after->artifact.last_used_at_us, clock_.wall_us());
}

TEST_F(CatalogueTest, TwoNamesShareOneArtifact) {
  const std::string path = small("a.gguf");
  const auto first = catalogue_->import(path, named("b"));
  std::filesystem::create_symlink(path, dir_ / "link.gguf");
  const auto second = catalogue_->import(dir_ / "link.gguf", named("a"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->artifact.id, second->artifact.id);
  EXPECT_THAT(names(), ElementsAre("a:latest", "b:latest"));
  ASSERT_TRUE(catalogue_->remove_name(named("A")));
  EXPECT_TRUE(catalogue_->recheck(first->artifact.id));
  ASSERT_TRUE(catalogue_->remove_name(named("b")));
  EXPECT_EQ(catalogue_->recheck(first->artifact.id).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(catalogue_->remove_name(named("b")).error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(CatalogueTest, HardLinksAreOneArtifact) {
  const std::string path = small("a.gguf");
  std::filesystem::create_hard_link(path, dir_ / "hard.gguf");
  const auto first = catalogue_->import(path, named("a"));
  const auto second = catalogue_->import(dir_ / "hard.gguf", named("b"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->artifact.id, second->artifact.id);
  EXPECT_TRUE(catalogue_->import(path, named("b")));
}

TEST_F(CatalogueTest, ANameStandsForItsFilesOnly) {
  ASSERT_TRUE(catalogue_->import(small("a.gguf"), named("m")));
  const auto other = catalogue_->import(small("b.gguf", "Uiny"), named("M"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::kConflict);
}

TEST_F(CatalogueTest, ImportsAWholeSetByAnyOfItsFiles) {
  write_set(3, 0);
  const auto model = catalogue_->import(dir_ / "set-00002-of-00003.gguf", named("set"));
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(model->artifact.shards.size(), 3U);
  EXPECT_THAT(model->artifact.shards[2].path, HasSubstr("set-00003-of-00003"));
  EXPECT_EQ(model->artifact.facts.name, "Set");
  EXPECT_EQ(model->artifact.facts.parameters, 96U);
}

TEST_F(CatalogueTest, NamesTheMissingFileOfASet) {
  write_set(3, 2);
  const auto model = catalogue_->import(dir_ / "set-00001-of-00003.gguf", named("set"));
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(model.error().message(), "file 2 of 3 is missing: set-00002-of-00003.gguf");
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(CatalogueTest, RefusesFilesThatAreNoSet) {
  write_set(2, 0);
  std::filesystem::copy_file(dir_ / "set-00001-of-00002.gguf", dir_ / "set-00002-of-00002.gguf",
                             std::filesystem::copy_options::overwrite_existing);
  const auto model = catalogue_->import(dir_ / "set-00001-of-00002.gguf", named("set"));
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message(), HasSubstr("says it is file 1 of 2"));
}

TEST_F(CatalogueTest, RefusesABrokenFileWithItsReason) {
  const std::string whole = GgufBuilder::small_model().bytes();
  const auto model =
      catalogue_->import(dir_.write("cut.gguf", whole.substr(0, whole.size() / 2)), named("cut"));
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(model.error().message(), HasSubstr("cut.gguf: tensor "));
  EXPECT_EQ(catalogue_->import(dir_ / "none.gguf", named("x")).error().code(),
            ErrorCode::kNotFound);
}

TEST_F(CatalogueTest, ATouchedFileIsStillFine) {
  const auto model = catalogue_->import(small("a.gguf"), named("m"));
  std::filesystem::last_write_time(
      dir_ / "a.gguf", std::filesystem::file_time_type::clock::now() + std::chrono::hours{1});
  const auto now = catalogue_->recheck(model->artifact.id);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->status, ArtifactStatus::kOk);
  EXPECT_NE(now->id, model->artifact.id);
  EXPECT_EQ(catalogue_->find(named("m"))->artifact.id, now->id);
}

TEST_F(CatalogueTest, AnotherModelInTheSamePlaceIsChangedUntilUsed) {
  const auto model = catalogue_->import(small("a.gguf"), named("m"));
  std::filesystem::remove(dir_ / "a.gguf");
  small("a.gguf", "Uiny");
  const auto now = catalogue_->recheck(model->artifact.id);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->status, ArtifactStatus::kChanged);
  EXPECT_EQ(catalogue_->recheck(now->id)->status, ArtifactStatus::kChanged);
  ASSERT_TRUE(catalogue_->touch(now->id));
  EXPECT_EQ(catalogue_->recheck(now->id)->status, ArtifactStatus::kOk);
  EXPECT_EQ(catalogue_->recheck(now->id)->reason, "");
  EXPECT_EQ(catalogue_->touch("nothing").error().code(), ErrorCode::kNotFound);
}

TEST_F(CatalogueTest, ImportingAgainTakesInTheChange) {
  const auto before = catalogue_->import(small("a.gguf"), named("m"));
  std::filesystem::remove(dir_ / "a.gguf");
  const auto after = catalogue_->import(small("a.gguf", "Uiny"), named("m"));
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_NE(after->artifact.id, before->artifact.id);
  EXPECT_EQ(after->artifact.facts.name, "Uiny");
  EXPECT_EQ(after->artifact.status, ArtifactStatus::kOk);
}

TEST_F(CatalogueTest, MissingAndBrokenAreListedWithTheirReasonAndRecover) {
  const std::string path = small("a.gguf");
  const auto model = catalogue_->import(path, named("m"));
  std::filesystem::rename(path, dir_ / "away");
  EXPECT_EQ(catalogue_->recheck(model->artifact.id)->status, ArtifactStatus::kMissing);
  dir_.write("a.gguf", "GGUF and then rubbish of some length");
  EXPECT_EQ(catalogue_->recheck(model->artifact.id)->status, ArtifactStatus::kBroken);
  const auto listed = catalogue_->list();
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().artifact.status, ArtifactStatus::kBroken);
  EXPECT_THAT(listed->front().artifact.reason, HasSubstr("GGUF version"));
  std::filesystem::rename(dir_ / "away", path);
  const auto back = catalogue_->recheck(model->artifact.id);
  EXPECT_EQ(back->status, ArtifactStatus::kOk);
  EXPECT_EQ(back->reason, "");
  EXPECT_EQ(back->id, model->artifact.id);
}

// Whichever call to the disk fails, import ends with an error and leaves no half of a model.
TEST_F(CatalogueTest, AFailingDiskLeavesNothingBehind) {
  const std::string path = small("a.gguf");
  for (int call = 1;; ++call) {
    const FailingFiles files{call};
    auto catalogue = Catalogue::open(":memory:", files, clock_);
    ASSERT_TRUE(catalogue);
    const auto model = catalogue->import(path, named("m"));
    if (!files.failed()) {
      EXPECT_TRUE(model);
      EXPECT_GT(call, 3);
      return;
    }
    ASSERT_FALSE(model) << call;
    EXPECT_EQ(model.error().code(), ErrorCode::kUnavailable);
    EXPECT_TRUE(catalogue->list()->empty());
  }
}

TEST_F(CatalogueTest, CopiesANameAndNeverOverAnother) {
  ASSERT_TRUE(catalogue_->import(small("a.gguf"), named("one")));
  ASSERT_TRUE(catalogue_->import(small("b.gguf", "Tina"), named("other")));
  const auto copied = catalogue_->copy(named("one"), named("two"));
  ASSERT_TRUE(copied) << copied.error().message();
  EXPECT_EQ(copied->name, "two:latest");
  EXPECT_EQ(copied->artifact.id, catalogue_->find(named("one"))->artifact.id);
  EXPECT_TRUE(catalogue_->copy(named("one"), named("two")));
  EXPECT_EQ(catalogue_->copy(named("one"), named("other")).error().code(), ErrorCode::kConflict);
  EXPECT_EQ(catalogue_->copy(named("none"), named("x")).error().code(), ErrorCode::kNotFound);
}

TEST_F(CatalogueTest, PinsStayWithTheFilesUntilTheirLastNameGoes) {
  const auto imported = catalogue_->import(small("a.gguf"), named("one"));
  ASSERT_TRUE(imported);
  ASSERT_TRUE(catalogue_->copy(named("one"), named("two")));
  const std::string id = imported->artifact.id;
  ASSERT_TRUE(catalogue_->pin(id, Pin{"weights", Bytes{}}));
  ASSERT_TRUE(catalogue_->pin(id, Pin{"pages", Bytes{4096}}));
  ASSERT_TRUE(catalogue_->pin(id, Pin{"pages", Bytes{8192}}));
  EXPECT_EQ(catalogue_->pin("nobody", Pin{"pages", Bytes{}}).error().code(), ErrorCode::kNotFound);
  const Pin pages{"pages", Bytes{8192}};
  const Pin weights{"weights", Bytes{}};
  reopen();
  EXPECT_THAT(catalogue_->find(named("two"))->pins, ElementsAre(pages, weights));
  small("a.gguf", "Tina");
  const auto changed = catalogue_->recheck(id);
  ASSERT_TRUE(changed);
  ASSERT_NE(changed->id, id);
  EXPECT_THAT(catalogue_->find(named("one"))->pins, ElementsAre(pages, weights));
  ASSERT_TRUE(catalogue_->unpin(changed->id, "pages"));
  EXPECT_THAT(catalogue_->find(named("one"))->pins, ElementsAre(weights));
  ASSERT_TRUE(catalogue_->remove_name(named("one")));
  EXPECT_THAT(catalogue_->find(named("two"))->pins, ElementsAre(weights));
  ASSERT_TRUE(catalogue_->remove_name(named("two")));
  const auto again = catalogue_->import(dir_ / "a.gguf", named("one"));
  EXPECT_TRUE(again->pins.empty());
}

// As the first two Hearths made it: 1 without pins, 2 with them.
void make_old_database(const std::string& path, const Artifact& artifact, int version) {
  Result<Database> db = Database::open(path);
  ASSERT_TRUE(db);
  ASSERT_TRUE(db->execute(
      "CREATE TABLE artifacts (id TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE, shards TEXT NOT "
      "NULL, facts TEXT NOT NULL, imported_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL, "
      "status INTEGER NOT NULL, reason TEXT NOT NULL);"
      "CREATE TABLE names (name_key TEXT PRIMARY KEY, display TEXT NOT NULL, artifact TEXT NOT "
      "NULL REFERENCES artifacts(id) ON UPDATE CASCADE, created_at INTEGER NOT NULL);"
      "CREATE INDEX names_by_artifact ON names(artifact);"));
  auto insert = db->prepare("INSERT INTO artifacts VALUES (?1, ?2, ?3, ?4, 11, 12, 0, '')");
  ASSERT_TRUE(insert);
  insert->bind(1, artifact.id).bind(2, artifact.shards.front().path);
  ASSERT_TRUE(insert->bind(3, json_of(artifact.shards)).bind(4, json_of(artifact.facts)).run());
  ASSERT_TRUE(
      db->execute("INSERT INTO names SELECT 'one:latest', 'One:latest', id, 13 FROM "
                  "artifacts; UPDATE artifacts SET facts = json_remove(facts, '$.version', "
                  "'$.template_tools', '$.template_thinks')"));
  if (version == 2) {
    ASSERT_TRUE(db->execute(
        "CREATE TABLE pins (artifact TEXT NOT NULL REFERENCES artifacts(id) ON UPDATE CASCADE ON "
        "DELETE CASCADE, layer TEXT NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (artifact, "
        "layer)) WITHOUT ROWID; INSERT INTO pins SELECT id, 'pages', 4096 FROM artifacts"));
  }
  ASSERT_TRUE(db->execute("PRAGMA user_version = " + std::to_string(version)));
}

TEST_F(CatalogueTest, OldOnesAreTakenOverAndTheirFactsAreReadAgain) {
  const Result<Artifact> artifact = inspect_artifact(Files::real(), small("a.gguf"));
  ASSERT_TRUE(artifact);
  for (const int version : {1, 2}) {
    SCOPED_TRACE(version);
    const std::string path = dir_ / ("old" + std::to_string(version));
    make_old_database(path, *artifact, version);
    Result<Catalogue> catalogue = Catalogue::open(path, Files::real(), clock_);
    ASSERT_TRUE(catalogue) << catalogue.error().message();
    const auto old = catalogue->find(named("one"));
    ASSERT_TRUE(old) << old.error().message();
    EXPECT_EQ(old->name, "One:latest");
    EXPECT_EQ(old->created_at_us, 13);
    EXPECT_EQ(old->artifact.id, artifact->id);
    EXPECT_EQ(old->artifact.store, Store::kUser);
    EXPECT_EQ(old->artifact.facts.version, 1U);
    EXPECT_FALSE(old->artifact.content());
    EXPECT_EQ(old->pins.size(), version == 2 ? 1U : 0U);
    const auto fresh = catalogue->recheck(artifact->id);
    ASSERT_TRUE(fresh) << fresh.error().message();
    EXPECT_EQ(fresh->id, artifact->id);
    EXPECT_EQ(fresh->status, ArtifactStatus::kOk);
    EXPECT_EQ(fresh->imported_at_us, 11);
    EXPECT_EQ(fresh->last_used_at_us, 12);
    EXPECT_EQ(catalogue->find(named("one"))->artifact.facts, artifact->facts);
    EXPECT_TRUE(catalogue->remove_name(named("one")));
  }
}

TEST_F(CatalogueTest, TheLayerShowsEachStatus) {
  const auto model = catalogue_->import(small("a.gguf"), named("m"));
  ArtifactLayer layer;
  layer.update(catalogue_->list().value());
  const Subject subject{model->artifact.id, "m", ""};
  EXPECT_EQ(layer.observe(subject).level, "local");
  EXPECT_EQ(layer.observe(subject).bytes, model->artifact.size());
  EXPECT_TRUE(layer.cost_to_warm(subject).known);
  EXPECT_EQ(layer.observe(Subject{"other", "x", ""}).level, "absent");

  dir_.write("a.gguf", "rubbish");
  layer.update(subject.artifact, catalogue_->recheck(subject.artifact).value());
  EXPECT_EQ(layer.observe(subject).level, "partial");
  EXPECT_THAT(layer.observe(subject).detail, HasSubstr("not a GGUF file"));
  EXPECT_FALSE(layer.cost_to_warm(subject).known);

  std::filesystem::remove(dir_ / "a.gguf");
  layer.update(subject.artifact, catalogue_->recheck(subject.artifact).value());
  EXPECT_EQ(layer.observe(subject).level, "absent");
}

}  // namespace
}  // namespace hearth
