// SPDX-License-Identifier: Apache-2.0
//
// The catalogue and the content of files: digests, installs, derived models, rot and absence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layers/artifact/artifact_layer.h"
#include "layers/artifact/blob_name.h"
#include "layers/artifact/catalogue.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using testing::GgufBuilder;
using ::testing::HasSubstr;
using testing::TempDir;
using ::testing::UnorderedElementsAre;

ModelName named(std::string_view text) { return ModelName::parse(text).value(); }

const std::string kOne(64, '1');
const std::string kTwo(64, '2');

std::string adapter_bytes() {
  GgufBuilder file;
  file.text("general.architecture", "llama").text("general.type", "adapter");
  file.text("adapter.type", "lora").tensor("blk.0.attn_q.weight.lora_a", {32, 4}, 0, 512);
  return file.bytes();
}

class CatalogueContent : public ::testing::Test {
 protected:
  CatalogueContent()
      : catalogue_{Catalogue::open(dir_ / "catalogue.db", Files::real(), clock_).value()} {}

  std::string model(std::string_view file, std::string_view title = "Tiny") {
    std::string bytes = GgufBuilder::small_model().bytes();
    bytes.replace(bytes.find("Tiny"), 4, title);
    return dir_.write(file, bytes);
  }
  std::string adapter(std::string_view file) { return dir_.write(file, adapter_bytes()); }

  Artifact imported(std::string_view name = "m") {
    const auto model_of_name = catalogue_.import(model("a.gguf"), named(name));
    EXPECT_TRUE(model_of_name) << model_of_name.error().message();
    return model_of_name->artifact;
  }
  Artifact found(std::string_view name = "m") { return catalogue_.find(named(name))->artifact; }

  TempDir dir_;
  ManualClock clock_;
  Catalogue catalogue_;
};

TEST_F(CatalogueContent, IsUnknownUntilItWasHashedAndThenSurvives) {
  const Artifact before = imported();
  EXPECT_FALSE(before.content());
  EXPECT_EQ(catalogue_.note_hashed(before.id, {kOne}), ArtifactStatus::kOk);
  const Artifact after = found();
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.content(), kOne);
  EXPECT_EQ(after.verified_at_us, clock_.wall_us());
  EXPECT_EQ(catalogue_.recheck(after.id)->content(), kOne);
  EXPECT_EQ(catalogue_.import(dir_ / "a.gguf", named("m"))->artifact.content(), kOne);
}

TEST_F(CatalogueContent, OtherBytesInAnUntouchedFileAreRotUntilTheyAreGoodAgain) {
  const std::string id = imported().id;
  ASSERT_TRUE(catalogue_.note_hashed(id, {kOne}));
  const std::int64_t verified = clock_.wall_us();
  clock_.advance(std::chrono::seconds{1});
  EXPECT_EQ(catalogue_.note_hashed(id, {kTwo}), ArtifactStatus::kRotten);
  EXPECT_EQ(found().status, ArtifactStatus::kRotten);
  EXPECT_THAT(found().reason, HasSubstr(kTwo));
  EXPECT_FALSE(found().content());
  EXPECT_EQ(found().verified_at_us, verified);
  EXPECT_EQ(catalogue_.recheck(id)->status, ArtifactStatus::kRotten);
  EXPECT_EQ(catalogue_.import(dir_ / "a.gguf", named("m"))->artifact.status,
            ArtifactStatus::kRotten);
  std::filesystem::rename(dir_ / "a.gguf", dir_ / "away");
  EXPECT_EQ(catalogue_.recheck(id)->status, ArtifactStatus::kMissing);
  std::filesystem::rename(dir_ / "away", dir_ / "a.gguf");
  EXPECT_EQ(catalogue_.recheck(id)->status, ArtifactStatus::kRotten);
  EXPECT_EQ(catalogue_.note_hashed(id, {kOne}), ArtifactStatus::kOk);
  EXPECT_EQ(catalogue_.recheck(id)->status, ArtifactStatus::kOk);
  EXPECT_EQ(found().content(), kOne);
  EXPECT_EQ(found().verified_at_us, clock_.wall_us());
}

TEST_F(CatalogueContent, AFileThatWasWrittenToLosesItsDigest) {
  const std::string id = imported().id;
  ASSERT_TRUE(catalogue_.note_hashed(id, {kOne}));
  model("a.gguf", "Tina");
  const auto now = catalogue_.recheck(id);
  EXPECT_EQ(now->status, ArtifactStatus::kChanged);
  EXPECT_FALSE(now->content());
  EXPECT_EQ(now->verified_at_us, 0);
  EXPECT_EQ(catalogue_.note_hashed(id, {kTwo}).error().code(), ErrorCode::kConflict);
  EXPECT_EQ(catalogue_.note_hashed(now->id, {kTwo}), ArtifactStatus::kChanged);
  EXPECT_EQ(found().content(), kTwo);
}

TEST_F(CatalogueContent, AFileWrittenToWhileItWasHashedIsNotBelieved) {
  const std::string id = imported().id;
  model("a.gguf", "Tina");
  EXPECT_EQ(catalogue_.note_hashed(id, {kOne}).error().code(), ErrorCode::kConflict);
  std::filesystem::remove(dir_ / "a.gguf");
  EXPECT_EQ(catalogue_.note_hashed(id, {kOne}).error().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(found().content());
}

TEST_F(CatalogueContent, AFileNamedByItsContentMustHaveIt) {
  const std::string path = model(blob_name(kOne));
  const auto imported_blob = catalogue_.import(path, named("m"));
  ASSERT_TRUE(imported_blob);
  EXPECT_EQ(catalogue_.note_hashed(imported_blob->artifact.id, {kTwo}), ArtifactStatus::kRotten);
  EXPECT_EQ(catalogue_.note_hashed(imported_blob->artifact.id, {kOne}), ArtifactStatus::kOk);
}

TEST_F(CatalogueContent, InstallsFilesWithOriginSettingsAndDigests) {
  ASSERT_TRUE(catalogue_.import(model("old.gguf", "Oldy"), named("m")));
  const std::string blob = model(blob_name(kOne));
  Catalogue::Installed what;
  what.paths = {blob};
  what.sha256 = {kOne};
  what.settings.system = "Be brief.";
  what.origin =
      Origin{"hf.co/o/r:Q4", "rev", {{"r.gguf", "https://x/r.gguf", kOne, "", Bytes{20480}}}};
  const auto model_of_name = catalogue_.install(named("m"), what);
  ASSERT_TRUE(model_of_name) << model_of_name.error().message();
  EXPECT_EQ(model_of_name->settings, what.settings);
  const Artifact artifact = found();
  EXPECT_EQ(artifact.store, Store::kHearth);
  EXPECT_EQ(artifact.origin, what.origin);
  EXPECT_EQ(artifact.content(), kOne);
  EXPECT_EQ(artifact.verified_at_us, clock_.wall_us());
  EXPECT_EQ(catalogue_.list()->size(), 1U);
  EXPECT_THAT(*catalogue_.paths_in_use(), UnorderedElementsAre(blob));
}

TEST_F(CatalogueContent, WhatWasGivenBackIsAbsentUntilItIsInstalled) {
  Catalogue::Installed what;
  what.paths = {model(blob_name(kOne))};
  what.sha256 = {kOne};
  what.origin = Origin{"s", "", {{"f", "https://x/f", kOne, "", Bytes{1}}}};
  ASSERT_TRUE(catalogue_.install(named("m"), what));
  ASSERT_TRUE(catalogue_.copy(named("m"), named("n")));
  const std::string id = found().id;
  ASSERT_TRUE(catalogue_.note_absent(id));
  std::filesystem::remove(what.paths.front());
  EXPECT_EQ(catalogue_.recheck(id)->status, ArtifactStatus::kAbsent);
  EXPECT_EQ(found().facts.name, "Tiny");
  EXPECT_TRUE(catalogue_.paths_in_use()->empty());
  model(blob_name(kOne));
  EXPECT_EQ(catalogue_.recheck(id)->status, ArtifactStatus::kAbsent);
  ASSERT_TRUE(catalogue_.install(named("m"), what));
  EXPECT_EQ(found("n").status, ArtifactStatus::kOk);
  EXPECT_EQ(found("n").id, found("m").id);
  EXPECT_EQ(found("n").content(), kOne);
  EXPECT_EQ(catalogue_.note_absent("nobody").error().code(), ErrorCode::kNotFound);
}

TEST_F(CatalogueContent, WhatWasHereUnreadIsNotCalledGood) {
  Catalogue::Installed what;
  what.paths = {model(blob_name(kOne))};
  what.sha256 = {kOne};
  what.origin = Origin{"s", "", {{"f", "https://x/f", kOne, "", Bytes{1}}}};
  what.unread = {0};
  ASSERT_TRUE(catalogue_.install(named("m"), what));
  EXPECT_FALSE(found().content());
  EXPECT_EQ(found().verified_at_us, 0);
  const std::string id = found().id;
  EXPECT_EQ(catalogue_.note_hashed(id, {kTwo}), ArtifactStatus::kRotten);
  ASSERT_TRUE(catalogue_.install(named("m"), what));
  EXPECT_EQ(found().status, ArtifactStatus::kRotten);
  EXPECT_EQ(catalogue_.note_hashed(id, {kOne}), ArtifactStatus::kOk);
  const std::int64_t verified = clock_.wall_us();
  clock_.advance(std::chrono::seconds{1});
  ASSERT_TRUE(catalogue_.install(named("m"), what));
  EXPECT_EQ(found().content(), kOne) << "it was read before";
  EXPECT_EQ(found().verified_at_us, verified);
}

TEST_F(CatalogueContent, RotGoesWithTheFileIntoOtherModels) {
  Catalogue::Installed what;
  what.paths = {model(blob_name(kOne))};
  what.sha256 = {kOne};
  ASSERT_TRUE(catalogue_.install(named("m"), what));
  ASSERT_EQ(catalogue_.note_hashed(found().id, {kTwo}), ArtifactStatus::kRotten);
  what.adapters = {adapter("lora.gguf")};
  what.sha256 = {kOne, kTwo};
  what.unread = {0};
  ASSERT_TRUE(catalogue_.install(named("tuned"), what));
  EXPECT_EQ(found("tuned").status, ArtifactStatus::kRotten);
  EXPECT_THAT(found("tuned").reason, HasSubstr(kTwo));
  EXPECT_FALSE(found("tuned").content());
  EXPECT_EQ(found("tuned").verified_at_us, 0);
}

TEST_F(CatalogueContent, OurOwnFileThatWentIsAbsentIfItCanBeFetched) {
  Catalogue::Installed what;
  std::filesystem::create_directory(dir_ / "blobs");
  what.paths = {model("blobs/" + blob_name(kOne))};
  what.sha256 = {kOne};
  what.origin = Origin{"s", "", {{"f", "https://x/f", kOne, "", Bytes{1}}}};
  ASSERT_TRUE(catalogue_.install(named("m"), what));
  const std::string id = found().id;
  std::filesystem::rename(dir_ / "blobs", dir_ / "away");
  EXPECT_EQ(catalogue_.recheck(id)->status, ArtifactStatus::kMissing) << "a disk that is away";
  std::filesystem::rename(dir_ / "away", dir_ / "blobs");
  EXPECT_EQ(catalogue_.recheck(id)->status, ArtifactStatus::kOk);
  std::filesystem::remove(what.paths.front());
  EXPECT_EQ(catalogue_.recheck(id)->status, ArtifactStatus::kAbsent);
  EXPECT_EQ(found().status, ArtifactStatus::kAbsent);
  what.origin = {};
  what.paths = {model("blobs/" + blob_name(kTwo), "Tina")};
  what.sha256 = {kTwo};
  ASSERT_TRUE(catalogue_.install(named("n"), what));
  std::filesystem::remove(what.paths.front());
  EXPECT_EQ(catalogue_.recheck(found("n").id)->status, ArtifactStatus::kMissing);
}

TEST_F(CatalogueContent, DerivesByNameWithSettingsOfItsOwn) {
  const std::string id = imported("base").id;
  ModelSettings settings;
  settings.system = "You are a pirate.";
  const auto pirate = catalogue_.derive(named("base"), named("pirate"), {settings, {}});
  ASSERT_TRUE(pirate) << pirate.error().message();
  EXPECT_EQ(pirate->artifact.id, id);
  EXPECT_EQ(catalogue_.find(named("pirate"))->settings, settings);
  EXPECT_TRUE(catalogue_.find(named("base"))->settings.empty());
  EXPECT_EQ(catalogue_.copy(named("pirate"), named("parrot"))->settings, settings);
  EXPECT_EQ(catalogue_.derive(named("none"), named("x"), {}).error().code(), ErrorCode::kNotFound);
}

TEST_F(CatalogueContent, AnAdapterMakesAnotherModelOfTheSameFile) {
  const Artifact base = imported("base");
  ASSERT_TRUE(catalogue_.note_hashed(base.id, {kOne}));
  const std::string lora = adapter("lora.gguf");
  const auto tuned = catalogue_.derive(named("base"), named("tuned"), {{}, {lora}});
  ASSERT_TRUE(tuned) << tuned.error().message();
  EXPECT_NE(tuned->artifact.id, base.id);
  EXPECT_EQ(found("base").id, base.id);
  EXPECT_EQ(tuned->artifact.shards.front().path, base.shards.front().path);
  ASSERT_EQ(tuned->artifact.adapters.size(), 1U);
  EXPECT_EQ(tuned->artifact.adapters.front().path, lora);
  EXPECT_FALSE(tuned->artifact.content());
  EXPECT_EQ(catalogue_.note_hashed(tuned->artifact.id, {kOne, kTwo}), ArtifactStatus::kOk);
  EXPECT_NE(found("tuned").content(), found("base").content());
  EXPECT_EQ(found("tuned").content()->size(), 64U);
  EXPECT_EQ(catalogue_.recheck(tuned->artifact.id)->status, ArtifactStatus::kOk);
  std::filesystem::remove(lora);
  EXPECT_EQ(catalogue_.recheck(tuned->artifact.id)->status, ArtifactStatus::kMissing);
  EXPECT_EQ(catalogue_.recheck(base.id)->status, ArtifactStatus::kOk);
}

TEST_F(CatalogueContent, AnAdapterIsNoModelAndAModelNoAdapter) {
  const auto alone = catalogue_.import(adapter("lora.gguf"), named("lora"));
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(alone.error().message(), HasSubstr("FROM its base and ADAPTER"));
  imported("base");
  const auto wrong = catalogue_.derive(named("base"), named("x"), {{}, {model("b.gguf")}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), HasSubstr("no LoRA adapter"));
}

// As in an Ollama store: the names of the files say nothing.
TEST_F(CatalogueContent, TakesASetByTheOrderOfItsFiles) {
  std::vector<std::string> paths;
  for (int i = 0; i < 2; ++i) {
    GgufBuilder file;
    if (i == 0) file.text("general.architecture", "llama");
    file.u16("split.no", static_cast<std::uint16_t>(i)).u16("split.count", 2);
    file.i32("split.tensors.count", 2).tensor("t" + std::to_string(i), {32}, 0, 128);
    paths.push_back(dir_.write("blob" + std::to_string(i), file.bytes()));
  }
  EXPECT_TRUE(inspect_files(Files::real(), paths, {}));
  std::swap(paths[0], paths[1]);
  const auto swapped = inspect_files(Files::real(), paths, {});
  EXPECT_THAT(swapped.error().message(), HasSubstr("says it is file 2 of 2"));
  paths.pop_back();
  EXPECT_EQ(inspect_files(Files::real(), paths, {}).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(inspect_files(Files::real(), {}, {}).error().code(), ErrorCode::kNotFound);
}

TEST_F(CatalogueContent, TheLayerTellsWhatIsKnownOfTheContent) {
  ArtifactLayer layer;
  Catalogue::Installed what;
  what.paths = {model(blob_name(kOne))};
  what.sha256 = {kOne};
  what.origin = Origin{"s", "", {{"f", "https://x/f", kOne, "", Bytes{777}}}};
  const Subject subject{catalogue_.install(named("m"), what)->artifact.id, "m", ""};
  layer.update(catalogue_.list().value());
  EXPECT_EQ(layer.observe(subject).level, "verified");
  EXPECT_EQ(layer.observe(subject).fraction, 1);
  ASSERT_TRUE(catalogue_.note_hashed(subject.artifact, {kTwo}));
  layer.update(catalogue_.list().value());
  EXPECT_EQ(layer.observe(subject).level, "partial");
  EXPECT_EQ(layer.observe(subject).fraction, 0);
  ASSERT_TRUE(catalogue_.note_absent(subject.artifact));
  layer.update(catalogue_.list().value());
  EXPECT_EQ(layer.observe(subject).level, "absent");
  EXPECT_EQ(layer.cost_to_warm(subject).bytes, Bytes{777});
  EXPECT_FALSE(layer.cost_to_warm(subject).known);

  const Subject mine{imported("mine").id, "mine", ""};
  layer.update(catalogue_.list().value());
  EXPECT_EQ(layer.observe(mine).level, "local");
}

}  // namespace
}  // namespace hearth
