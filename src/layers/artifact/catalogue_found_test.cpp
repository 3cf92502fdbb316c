// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layers/artifact/catalogue.h"
#include "layers/testing/failing_files.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using testing::FailingFiles;
using testing::GgufBuilder;
using ::testing::HasSubstr;
using testing::kNever;
using testing::TempDir;

ModelName named(std::string_view text) { return ModelName::parse(text).value(); }

class FoundModels : public ::testing::Test {
 protected:
  FoundModels() : catalogue_{Catalogue::open(dir_ / "catalogue.db", files_, clock_).value()} {}

  std::string model(std::string_view file, std::string_view title = "Tiny") {
    std::string bytes = GgufBuilder::small_model().bytes();
    bytes.replace(bytes.find("Tiny"), 4, title);
    return dir_.write(file, bytes);
  }
  FoundModel found(std::string name, std::string path, std::string fallback = "") {
    FoundModel model_found;
    model_found.name = std::move(name);
    model_found.fallback = std::move(fallback);
    model_found.paths = {std::move(path)};
    return model_found;
  }
  FoundReport note(const std::vector<FoundModel>& models, Store store = Store::kFolder) {
    Result<FoundReport> report = catalogue_.note_found(store, "/root", models);
    EXPECT_TRUE(report) << report.error().message();
    return std::move(report).value();
  }
  std::vector<std::string> names() {
    std::vector<std::string> out;
    const auto listed = catalogue_.list();
    for (const NamedModel& named_model : *listed) out.push_back(named_model.name);
    return out;
  }

  TempDir dir_;
  ManualClock clock_;
  FailingFiles files_{kNever};
  Catalogue catalogue_;
};

TEST_F(FoundModels, StayWhileOnlyAPartIsNoted) {
  const FoundModel one = found("one", model("a.gguf"));
  FoundModel two = found("two", model("b.gguf", "Tony"));
  note({one, two});
  two.paths = {model("c.gguf", "Tini")};  // new files under the same name come later
  const auto part = catalogue_.note_found(Store::kFolder, "/root", {one}, FoundExtent::kPart);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->removed, 0);
  EXPECT_THAT(names(), ElementsAre("one:latest", "two:latest"));
  EXPECT_EQ(note({one, two}).removed, 0);
  EXPECT_EQ(catalogue_.find(named("two"))->artifact.shards.front().path, two.paths.front());
}

TEST_F(FoundModels, AreListedUsedInPlaceAndReadOnce) {
  FoundModel one = found("One:Q4", model("a.gguf"));
  one.settings.system = "hello";
  one.origin.source = "registry/one";
  EXPECT_EQ(note({one}, Store::kOllama).added, 1);
  const auto listed = catalogue_.find(named("one:q4"));
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->artifact.store, Store::kOllama);
  EXPECT_EQ(listed->artifact.origin, one.origin);
  EXPECT_EQ(listed->settings, one.settings);
  const int reads = files_.reads();
  const FoundReport again = note({one}, Store::kOllama);
  EXPECT_EQ(again.added + again.removed, 0);
  EXPECT_EQ(files_.reads(), reads);
  one.settings.system = "changed";
  note({one}, Store::kOllama);
  EXPECT_EQ(catalogue_.find(named("one:q4"))->settings, one.settings);
}

TEST_F(FoundModels, SayWhichStoresTheyCameFrom) {
  EXPECT_THAT(*catalogue_.found_roots(), ::testing::IsEmpty());
  note({found("one", model("a.gguf")), found("two", model("b.gguf"))}, Store::kOllama);
  ASSERT_TRUE(catalogue_.import(model("c.gguf"), named("mine")));
  EXPECT_THAT(*catalogue_.found_roots(), ElementsAre(StoreRoot{Store::kOllama, "/root"}));
}

TEST_F(FoundModels, TwoNamesOfOneFileAreBothListed) {
  const std::string path = model("a.gguf");
  EXPECT_EQ(note({found("x:8b", path), found("x:latest", path)}).added, 2);
  EXPECT_THAT(names(), ElementsAre("x:8b", "x:latest"));
  EXPECT_EQ(note({found("x:8b", path)}).removed, 1);
  EXPECT_THAT(names(), ElementsAre("x:8b"));
}

TEST_F(FoundModels, TakeTheSecondNameAndKeepIt) {
  ASSERT_TRUE(catalogue_.import(model("mine.gguf", "Mine"), named("x")));
  const std::vector<FoundModel> both{found("x", model("a.gguf"), "a/x"),
                                     found("x", model("b.gguf", "Tina"), "b/x")};
  EXPECT_EQ(note(both).added, 2);
  EXPECT_THAT(names(), ElementsAre("a/x:latest", "b/x:latest", "x:latest"));
  ASSERT_TRUE(catalogue_.remove_name(named("x")));
  note(both);
  EXPECT_THAT(names(), ElementsAre("a/x:latest", "b/x:latest"));
  ASSERT_TRUE(catalogue_.import(dir_ / "mine.gguf", named("y")));
  const FoundReport report = note({found("y", model("c.gguf", "Cccc"), "y")});
  ASSERT_EQ(report.refused.size(), 1U);
  EXPECT_THAT(report.refused.front(), HasSubstr("stands for other files"));
}

TEST_F(FoundModels, RemovedOnesStayAway) {
  const std::vector<FoundModel> one{found("x", model("a.gguf"))};
  note(one);
  ASSERT_TRUE(catalogue_.remove_name(named("x")));
  EXPECT_EQ(note(one).added, 0);
  EXPECT_THAT(names(), ElementsAre());
  EXPECT_TRUE(std::filesystem::exists(dir_ / "a.gguf"));
  ASSERT_TRUE(catalogue_.import(dir_ / "a.gguf", named("x")));
  EXPECT_EQ(note({}).removed, 0);
  EXPECT_THAT(names(), ElementsAre("x:latest"));
}

TEST_F(FoundModels, GoWhenTheyAreGoneUnlessSomebodyCares) {
  note({found("a", model("a.gguf")), found("b", model("b.gguf", "Bbbb")),
        found("c", model("c.gguf", "Cccc"))});
  ASSERT_TRUE(catalogue_.copy(named("b"), named("mine")));
  ASSERT_TRUE(catalogue_.pin(catalogue_.find(named("c"))->artifact.id, Pin{"pages", Bytes{}}));
  std::filesystem::remove(dir_ / "b.gguf");
  EXPECT_EQ(note({}).removed, 1);
  EXPECT_THAT(names(), ElementsAre("b:latest", "c:latest", "mine:latest"));
  EXPECT_EQ(catalogue_.recheck(catalogue_.find(named("b"))->artifact.id)->status,
            ArtifactStatus::kMissing);
}

TEST_F(FoundModels, ATagThatMovedOnStandsForTheNewFile) {
  note({found("x", model("a.gguf"))}, Store::kOllama);
  const std::string before = catalogue_.find(named("x"))->artifact.id;
  note({found("x", model("b.gguf", "Newy"))}, Store::kOllama);
  EXPECT_NE(catalogue_.find(named("x"))->artifact.id, before);
  EXPECT_EQ(catalogue_.recheck(before).error().code(), ErrorCode::kNotFound);
}

TEST_F(FoundModels, BrokenOnesAreListedWithTheReasonAndMendThemselves) {
  const std::string whole = GgufBuilder::small_model().bytes();
  const std::vector<FoundModel> one{
      found("x", dir_.write("a.gguf", whole.substr(0, whole.size() / 2)))};
  EXPECT_EQ(note(one).added, 1);
  const Artifact broken = catalogue_.find(named("x"))->artifact;
  EXPECT_EQ(broken.status, ArtifactStatus::kBroken);
  EXPECT_THAT(broken.reason, HasSubstr("a.gguf: tensor "));
  const int reads = files_.reads();
  EXPECT_EQ(catalogue_.recheck(broken.id)->status, ArtifactStatus::kBroken);
  EXPECT_EQ(note(one).added, 0);
  EXPECT_EQ(files_.reads(), reads);
  dir_.write("a.gguf", whole);
  note(one);
  EXPECT_EQ(catalogue_.find(named("x"))->artifact.status, ArtifactStatus::kOk);
}

TEST_F(FoundModels, WhatIsNoModelIsReportedOnly) {
  GgufBuilder clip;
  clip.text("general.architecture", "clip").tensor("v.blk", {32}, 0, 128);
  const FoundReport report = note(
      {found("x", dir_.write("mmproj.gguf", clip.bytes())), found("gone", dir_ / "none.gguf")});
  ASSERT_EQ(report.refused.size(), 2U);
  EXPECT_THAT(report.refused.front(), HasSubstr("sees pictures"));
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(FoundModels, AFileThatTheUserNamedKeepsThatName) {
  ASSERT_TRUE(catalogue_.import(model("a.gguf"), named("mine")));
  EXPECT_EQ(note({found("x", dir_ / "a.gguf")}).added, 1);
  EXPECT_THAT(names(), ElementsAre("mine:latest", "x:latest"));
  EXPECT_EQ(note({}).removed, 0);
}

}  // namespace
}  // namespace hearth
