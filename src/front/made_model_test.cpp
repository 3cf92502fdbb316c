// SPDX-License-Identifier: Apache-2.0
#include "front/made_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/sha256.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using hearth::testing::GgufBuilder;
using hearth::testing::TempDir;
using ::testing::HasSubstr;

class MadeModel : public ::testing::Test {
 protected:
  MadeModel() {
    auto opened = Catalogue::open(directory_ / "catalogue.db", Files::real(), clock_);
    EXPECT_TRUE(opened);
    catalogue_.emplace(std::move(*opened));
  }

  static std::string content(const std::string& name) {
    GgufBuilder file = GgufBuilder::small_model();
    file.text("test.name", name);
    return file.bytes();
  }
  static std::string shard(int number, int count) {
    GgufBuilder file;
    if (number == 0) file.text("general.architecture", "llama").text("general.name", "Set");
    file.u16("split.no", static_cast<std::uint16_t>(number));
    file.u16("split.count", static_cast<std::uint16_t>(count)).i32("split.tensors.count", count);
    file.tensor("t" + std::to_string(number), {32}, 0, 128);
    return file.bytes();
  }
  std::string import(const std::string& name) {
    std::string path = directory_.write(name + ".gguf", content(name));
    EXPECT_TRUE(catalogue_->import(path, *ModelName::parse(name)));
    return path;
  }
  // As a client sends it; the digest.
  std::string upload(const std::string& bytes) {
    const std::string sha256 = hex_of(Sha256{}.add(bytes).finish());
    auto incoming = store_.receive(sha256, Bytes{bytes.size()});
    EXPECT_TRUE(incoming && incoming->write(bytes) && incoming->finish());
    return "sha256:" + sha256;
  }
  Result<NamedModel> make(const CreateRequest& request) {
    const Result<MakingOf> making = making_of(request, store_);
    if (!making) return Failed{making.error()};
    return make_model(*catalogue_, *making, request);
  }
  static CreateRequest named(std::string name) {
    CreateRequest request;
    request.name = std::move(name);
    return request;
  }

  TempDir directory_;
  ManualClock clock_;
  BlobStore store_{Files::real(), directory_ / "models"};
  std::optional<Catalogue> catalogue_;
};

TEST_F(MadeModel, FromAModelItTakesFilesAndSettings) {
  import("tiny");
  CreateRequest request = named("pirate");
  request.from = "tiny";
  request.system = "Arr.";
  request.parameters = R"({"seed":1})";
  const auto made = make(request);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->settings.system, "Arr.");
  EXPECT_EQ(made->artifact.id, catalogue_->find(*ModelName::parse("tiny"))->artifact.id);
  CreateRequest second = named("captain");
  second.from = "pirate";
  second.parameters = R"({"top_k":2})";
  EXPECT_EQ(make(second)->settings.parameters, R"({"seed":1,"top_k":2})");
  EXPECT_EQ(make(second)->settings.system, "Arr.");
}

TEST_F(MadeModel, FromItselfItsSettingsChange) {
  import("tiny");
  CreateRequest request = named("tiny");
  request.from = "tiny";
  request.system = "Be brief.";
  ASSERT_TRUE(make(request));
  EXPECT_EQ(catalogue_->find(*ModelName::parse("tiny"))->settings.system, "Be brief.");
}

TEST_F(MadeModel, FromAFileWhereItLies) {
  const std::string path = directory_.write("mine.gguf", content("mine"));
  CreateRequest request = named("mine");
  request.path = path;
  request.system = "Hi.";
  const auto made = make(request);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->artifact.store, Store::kUser);
  EXPECT_EQ(made->artifact.shards[0].path, path);
  EXPECT_EQ(made->settings.system, "Hi.");
}

TEST_F(MadeModel, ANameThatStoodForOtherFilesIsTakenOver) {
  import("old");
  CreateRequest request = named("old");
  request.path = directory_.write("new.gguf", content("new"));
  const auto made = make(request);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->artifact.shards[0].path, request.path);
  EXPECT_EQ(catalogue_->list()->size(), 1U) << "nothing else is left";
  request.path = directory_.write("broken.gguf", "GGUF, or not");
  EXPECT_FALSE(make(request));
  EXPECT_EQ(catalogue_->find(*ModelName::parse("old"))->artifact.id, made->artifact.id);
  EXPECT_EQ(catalogue_->list()->size(), 1U);
}

TEST_F(MadeModel, FromABlob) {
  CreateRequest request = named("uploaded");
  const std::string digest = upload(content("uploaded"));
  request.files = {{"model.gguf", digest}};
  const auto made = make(request);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->artifact.store, Store::kHearth);
  EXPECT_EQ("sha256:" + made->artifact.content().value(), digest);
  EXPECT_FALSE(made->artifact.origin.known());
}

TEST_F(MadeModel, ABadAdapterLeavesTheNameWhatItWas) {
  import("old");
  const std::string old = catalogue_->find(*ModelName::parse("old"))->artifact.id;
  CreateRequest blobs = named("old");
  blobs.files = {{"model.gguf", upload(content("new"))}};
  CreateRequest path = named("old");
  path.path = directory_.write("new.gguf", content("newer"));
  CreateRequest fresh = path;
  fresh.name = "fresh";
  for (CreateRequest request : {blobs, path, fresh}) {
    request.adapters = {{"lora.gguf", upload("no adapter")}};
    EXPECT_FALSE(make(request));
    ASSERT_EQ(catalogue_->list()->size(), 1U);
    EXPECT_EQ(catalogue_->find(*ModelName::parse("old"))->artifact.id, old);
  }
}

TEST_F(MadeModel, WhatACrashLeftIsForgotten) {
  import("tiny");
  ASSERT_TRUE(
      catalogue_->copy(*ModelName::parse("tiny"), *ModelName::parse("hearth/being-made:aside")));
  ASSERT_TRUE(forget_half_made(*catalogue_));
  EXPECT_EQ(catalogue_->list()->size(), 1U);
  EXPECT_TRUE(forget_half_made(*catalogue_));
}

TEST_F(MadeModel, ShardsAreOrderedByName) {
  CreateRequest request = named("set");
  request.files = {{"m-00002-of-00002.gguf", upload(shard(1, 2))},
                   {"m-00001-of-00002.gguf", upload(shard(0, 2))}};
  const auto made = make(request);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->artifact.shards.size(), 2U);
}

struct RefusalCase {
  const char* name;
  CreateRequest request;
  ErrorCode code;
  const char* field;
};
class RefusedModel : public MadeModel, public ::testing::WithParamInterface<RefusalCase> {};
TEST_P(RefusedModel, SaysWhy) {
  import("tiny");
  const auto made = make(GetParam().request);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), GetParam().code) << made.error().message();
  EXPECT_EQ(made.error().field(), GetParam().field);
  EXPECT_EQ(catalogue_->list()->size(), 1U);
}
CreateRequest asking(std::string name, std::string from, std::string digest) {
  CreateRequest request;
  request.name = std::move(name);
  request.from = std::move(from);
  if (!digest.empty()) request.files = {{"m.gguf", std::move(digest)}};
  return request;
}
INSTANTIATE_TEST_SUITE_P(
    Bad, RefusedModel,
    ::testing::Values(
        RefusalCase{"NoName", asking("", "tiny", ""), ErrorCode::kInvalid, "name"},
        RefusalCase{"Traversal", asking("../x", "tiny", ""), ErrorCode::kInvalid, "name"},
        RefusalCase{"FromNothing", asking("x", "", ""), ErrorCode::kInvalid, "from"},
        RefusalCase{"FromTwo", asking("x", "tiny", "sha256:" + std::string(64, '0')),
                    ErrorCode::kInvalid, "from"},
        RefusalCase{"FromNobody", asking("x", "nobody", ""), ErrorCode::kNotFound, "from"},
        RefusalCase{"NoSuchBlob", asking("x", "", "sha256:" + std::string(64, '0')),
                    ErrorCode::kNotFound, "files"},
        RefusalCase{"NoDigest", asking("x", "", "sha256:../../etc/passwd"), ErrorCode::kInvalid,
                    "files"}),
    [](const auto& test) { return test.param.name; });

TEST_F(MadeModel, ABlobThatIsNoModelIsRefusedAndStays) {
  CreateRequest request = named("text");
  request.files = {{"model.gguf", upload("just text")}};
  const auto made = make(request);
  ASSERT_FALSE(made);
  EXPECT_EQ(store_.blobs()->size(), 1U);
  EXPECT_EQ(catalogue_->list()->size(), 0U);
}

}  // namespace
}  // namespace hearth::front
