// SPDX-License-Identifier: Apache-2.0
#include "front/verify/verifier.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/random.h"
#include "front/testing/verify_front.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::VerifyFront;

constexpr std::size_t kMiB = 1 << 20;

class VerifierTest : public VerifyFront {};

// ---- unasked ----

TEST_F(VerifierTest, LearnsTheContentOfAnImportLater) {
  const std::string path = import_model("tiny");
  EXPECT_FALSE(is_hashed("tiny")) << "an import does not wait for its hash";
  loop_.run_for(1s);
  EXPECT_FALSE(is_hashed("tiny")) << "quiet has not lasted";
  loop_.run_for(3s);
  EXPECT_EQ(model("tiny").artifact.content(), sha_of_file(path));
  EXPECT_GT(model("tiny").artifact.verified_at_us, 0);
  loop_.run_for(1h);
  EXPECT_EQ(noted_, 1) << "once is enough";
}

TEST_F(VerifierTest, WaitsWhileRequestsAreUnderWay) {
  import_model("tiny");
  busy_ = true;
  loop_.run_for(1h);
  EXPECT_FALSE(is_hashed("tiny"));
  busy_ = false;
  loop_.run_for(1s);
  EXPECT_FALSE(is_hashed("tiny"));
  loop_.run_for(3s);
  EXPECT_TRUE(is_hashed("tiny"));
}

TEST_F(VerifierTest, PutsAReadDownWhenARequestComes) {
  import_model("large", 40);
  const std::size_t before = files_.bytes;
  files_.on_read = [&]() -> Result<> {
    if (files_.bytes > before + 17 * kMiB) busy_ = true;
    return {};
  };
  loop_.run_for(1min);
  EXPECT_FALSE(is_hashed("large"));
  EXPECT_LT(files_.bytes, before + 34 * kMiB) << "the step was ended, no other begun";
  files_.on_read = nullptr;
  busy_ = false;
  loop_.run_for(5s);
  EXPECT_TRUE(is_hashed("large"));
  EXPECT_LT(files_.bytes, before + 42 * kMiB) << "nothing was read twice";
}

TEST_F(VerifierTest, GoesOnAfterARestart) {
  import_model("large", 40);
  const std::size_t before = files_.bytes;
  files_.on_read = [&]() -> Result<> {
    if (files_.bytes > before + 17 * kMiB) busy_ = true;
    return {};
  };
  loop_.run_for(1min);
  files_.on_read = nullptr;
  close();
  busy_ = false;
  open();
  loop_.run_for(5s);
  EXPECT_TRUE(is_hashed("large"));
  EXPECT_LT(files_.bytes, before + 43 * kMiB);
}

TEST_F(VerifierTest, LeavesFoundModelsAloneUntilTheyAreUsed) {
  FoundModel found;
  found.name = "found";
  found.paths = {write_model("found")};
  ASSERT_TRUE(catalogue_->note_found(Store::kFolder, directory_.path(), {found}));
  ASSERT_TRUE(refresh());
  loop_.run_for(1min);
  EXPECT_FALSE(is_hashed("found"));
  ASSERT_TRUE(catalogue_->touch(model("found").artifact.id));
  ASSERT_TRUE(refresh());
  loop_.run_for(5s);
  EXPECT_TRUE(is_hashed("found"));
}

TEST_F(VerifierTest, ReadsAgainEveryFewDaysOverRestarts) {
  import_model("tiny");
  loop_.run_for(5s);
  ASSERT_EQ(noted_, 1);
  verify_days_ = 1;
  loop_.run_for(20h);
  EXPECT_EQ(noted_, 1);
  close();
  open();
  loop_.run_for(3h);
  EXPECT_EQ(noted_, 1) << "a start is no reason";
  loop_.run_for(2h);
  EXPECT_EQ(noted_, 2);
}

TEST_F(VerifierTest, FindsRotByItself) {
  const std::string path = import_model("tiny");
  loop_.run_for(5s);
  rot(path, 9000);
  verify_days_ = 1;
  loop_.run_for(25h);
  EXPECT_EQ(model("tiny").artifact.status, ArtifactStatus::kRotten);
  EXPECT_FALSE(is_hashed("tiny"));
  EXPECT_THAT(metrics_.text(), HasSubstr("hearth_content_rotten_total 1"));
}

TEST_F(VerifierTest, AFileThatCannotBeReadDoesNotKeepItBusy) {
  import_model("tiny");
  files_.on_read = [] { return fail(ErrorCode::kUnavailable, "read: input/output error"); };
  loop_.run_for(5min);
  EXPECT_LT(files_.reads, 10);
  files_.on_read = nullptr;
  loop_.run_for(10min);
  EXPECT_TRUE(is_hashed("tiny"));
}

// ---- when somebody asks ----

TEST_F(VerifierTest, TellsRotFromAWriteAndFromALoss) {
  const std::string path = import_model("tiny");
  EXPECT_EQ(verdict("tiny"), "good");
  EXPECT_EQ(verdict("tiny"), "good");
  touch(path);
  EXPECT_EQ(verdict("tiny"), "good") << "a new date on the same bytes";
  flip_byte(path, 9000);
  touch(path);
  EXPECT_EQ(verdict("tiny"), "changed");
  EXPECT_EQ(model("tiny").artifact.content(), sha_of_file(path));
  EXPECT_EQ(verdict("tiny"), "good") << "what it holds now counts";
  rot(path, 9100);
  EXPECT_EQ(verdict("tiny"), "rotten");
  EXPECT_EQ(model("tiny").artifact.status, ArtifactStatus::kRotten);
  rot(path, 9100);
  EXPECT_EQ(verdict("tiny"), "good") << "bytes that came back";
  EXPECT_EQ(model("tiny").artifact.status, ArtifactStatus::kOk);
  std::filesystem::remove(path);
  EXPECT_EQ(verdict("tiny"), "missing");
}

TEST_F(VerifierTest, AWriteThatOnlyTheServerSawIsStillTold) {
  const std::string path = import_model("tiny");
  loop_.run_for(5s);
  flip_byte(path, 9000);
  touch(path);
  ASSERT_TRUE(catalogue_->recheck(model("tiny").artifact.id));
  ASSERT_TRUE(refresh());
  loop_.run_for(1h);
  EXPECT_EQ(model("tiny").artifact.content(), sha_of_file(path));
  EXPECT_EQ(verdict("tiny"), "changed");
  EXPECT_EQ(verdict("tiny"), "good");
}

TEST_F(VerifierTest, SaysHowMuchIsBad) {
  const std::string path = import_model("large", 10);
  EXPECT_EQ(verdict("large"), "good");
  rot(path, 9 * kMiB);
  const Heard heard = verify("large");
  ASSERT_EQ(heard.verified.size(), 1U);
  const Verified& found = heard.verified[0];
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  EXPECT_EQ(found.verdict, "rotten");
  EXPECT_EQ(found.bytes, size);
  EXPECT_EQ(found.bad_bytes, size - 8 * static_cast<std::int64_t>(kMiB));
  EXPECT_EQ(found.sha256, sha_of_file(path));
  EXPECT_THAT(found.text, HasSubstr("backup"));
}

TEST_F(VerifierTest, AWriteWhileItReadsIsNoRot) {
  const std::string path = import_model("large", 20);
  EXPECT_EQ(verdict("large"), "good");
  int left = 18;
  files_.on_read = [&]() -> Result<> {
    if (--left == 0) {
      flip_byte(path, 19 * kMiB);
      touch(path);
    }
    return {};
  };
  EXPECT_EQ(verdict("large"), "changed");
  EXPECT_EQ(model("large").artifact.content(), sha_of_file(path));
}

TEST_F(VerifierTest, AFileThatIsAlwaysWrittenToEndsTheWait) {
  const std::string path = import_model("tiny");
  std::uint64_t n = 0;
  files_.on_read = [&]() -> Result<> {
    flip_byte(path, 9000 + n++);
    touch(path);
    return {};
  };
  EXPECT_EQ(verdict("tiny"), "changed");
  EXPECT_FALSE(is_hashed("tiny"));
}

TEST_F(VerifierTest, AllModelsOneAfterAnother) {
  import_model("a");
  const std::string b = import_model("b");
  const std::string c = import_model("c");
  ASSERT_TRUE(catalogue_->copy(*ModelName::parse("a"), *ModelName::parse("z")));
  ASSERT_TRUE(refresh());
  (void)verify();
  rot(b, 9000);
  std::filesystem::remove(c);
  loop_.run_for(1s);
  const Heard heard = verify();
  ASSERT_TRUE(heard.done);
  std::string all;
  for (const Verified& one : heard.verified) all += one.model + " " + one.verdict + "\n";
  EXPECT_EQ(all, "a:latest good\nb:latest rotten\nc:latest missing\nz:latest good\n");
  EXPECT_EQ(heard.done->verified.size(), 4U);
  ASSERT_FALSE(heard.progress.empty());
  EXPECT_EQ(heard.progress[0].stage, "verify");
  EXPECT_EQ(heard.progress[0].file, "a.gguf");
}

TEST_F(VerifierTest, RefusesNamesThatAreNone) {
  EXPECT_EQ(verify("nobody").error->code(), ErrorCode::kNotFound);
  EXPECT_EQ(verify("../x").error->code(), ErrorCode::kInvalid);
}

TEST_F(VerifierTest, SeveralWaitForOneRead) {
  import_model("large", 40);
  const std::size_t before = files_.bytes;
  Heard first, second;
  loop_.spawn(listen(verifier_->verify({"large", false}), &first));
  loop_.spawn(listen(verifier_->verify({"large", false}), &second));
  loop_.run_for(1s);
  ASSERT_TRUE(first.done && second.done);
  EXPECT_EQ(first.verified.size(), 1U);
  EXPECT_EQ(second.verified.size(), 1U);
  EXPECT_LT(files_.bytes, before + 42 * kMiB);
}

TEST_F(VerifierTest, TheLastToLeavePausesIt) {
  import_model("large", 60);
  const std::size_t before = files_.bytes;
  std::unique_ptr<Transfer> waiter = verifier_->verify({"large", false});
  int steps = 0;
  files_.on_read = [&]() -> Result<> {
    busy_ = true;  // so that nothing goes on unasked
    if (++steps == 20) waiter.reset();
    return {};
  };
  loop_.run_for(1s);
  EXPECT_FALSE(is_hashed("large"));
  EXPECT_LT(files_.bytes, before + 40 * kMiB);
  files_.on_read = nullptr;
  EXPECT_EQ(verdict("large"), "good");
  EXPECT_LT(files_.bytes, before + 63 * kMiB) << "it went on where it was";
}

TEST_F(VerifierTest, GoesOnForOneWhoSaidSo) {
  import_model("large", 40);
  busy_ = true;
  std::unique_ptr<Transfer> waiter = verifier_->verify({"large", false});
  waiter->detach();
  waiter.reset();
  loop_.run_for(1s);
  EXPECT_TRUE(is_hashed("large"));
}

TEST_F(VerifierTest, ACheckOfAllGoesOnAfterARestart) {
  import_model("a", 20);
  import_model("b", 20);
  busy_ = true;
  const std::size_t before = files_.bytes;
  std::unique_ptr<Transfer> waiter = verifier_->verify({"", false});
  files_.on_read = [&]() -> Result<> {
    if (files_.bytes > before + 30 * kMiB) waiter.reset();
    return {};
  };
  loop_.run_for(1s);
  files_.on_read = nullptr;
  close();
  open();
  const Heard heard = verify();
  ASSERT_EQ(heard.verified.size(), 2U);
  EXPECT_EQ(heard.verified[0].verdict, "good");
  EXPECT_LT(files_.bytes, before + 44 * kMiB) << "neither model was read twice";
  (void)verify();
  EXPECT_GT(files_.bytes, before + 80 * kMiB) << "the next is a new one";
}

TEST_F(VerifierTest, AStopEndsTheWait) {
  import_model("large", 40);
  Heard heard;
  loop_.spawn(listen(verifier_->verify({"large", false}), &heard));
  close();
  ASSERT_TRUE(heard.error);
  open();
}

// ---- our own store ----

class OwnStore : public VerifyFront {
 protected:
  // A model of 10 MiB that was pulled.
  std::string install() {
    hearth::testing::GgufBuilder file = hearth::testing::GgufBuilder::small_model();
    file.tensor("blk.0.ffn_up.weight", {1024, 2560}, 0, 10 * kMiB);
    const std::string bytes = file.bytes();
    const std::string sha256 = hex_of(Sha256{}.add(bytes).finish());
    auto incoming = store_.receive(sha256, Bytes{bytes.size()});
    EXPECT_TRUE(incoming && incoming->write(bytes) && incoming->finish());
    installed_.paths = {store_.path_of(sha256)};
    installed_.sha256 = {sha256};
    installed_.origin.source = "models.example/m.gguf";
    installed_.origin.files = {
        {"m.gguf", "https://models.example/m.gguf", sha256, "", Bytes{bytes.size()}}};
    EXPECT_TRUE(catalogue_->install(*ModelName::parse("own"), installed_));
    EXPECT_TRUE(refresh());
    return installed_.paths[0];
  }
  Catalogue::Installed installed_;
};

TEST_F(OwnStore, KeepsDigestsOfPartsForRepairs) {
  install();
  EXPECT_FALSE(store_.parts(installed_.sha256[0])) << "an upload has none";
  EXPECT_EQ(verdict("own"), "good");
  EXPECT_EQ(store_.parts(installed_.sha256[0])->parts.size(), 3U);
}

TEST_F(OwnStore, WhatIsBadIsRepaired) {
  const std::string path = install();
  EXPECT_EQ(verdict("own"), "good");
  rot(path, 9 * kMiB);
  std::vector<std::size_t> bad;
  repair_ = [&](NamedModel, ModelCheck::Checked checked,
                std::shared_ptr<VerifyRun>) -> Task<Result<Bytes>> {
    bad = checked.rotten.at(0).bad;
    return repair_by(this, path, 9 * kMiB);
  };
  close();
  open();
  const Heard found = verify("own");
  EXPECT_EQ(found.verified.at(0).verdict, "rotten");
  EXPECT_THAT(found.verified.at(0).text, HasSubstr("verify --repair own:latest"));
  const Heard heard = verify("own", Repair::kYes);
  EXPECT_EQ(bad, std::vector<std::size_t>{2});
  EXPECT_EQ(heard.verified.at(0).verdict, "repaired");
  EXPECT_EQ(heard.done->received, 1234);
}

TEST_F(OwnStore, ADateDoesNotMakeRotGood) {
  const std::string path = install();
  flip_byte(path, 9 * kMiB);
  touch(path);
  EXPECT_EQ(verdict("own"), "rotten") << "its name says what it should be";
  rot(path, 9 * kMiB);
  EXPECT_EQ(verdict("own"), "good");
}

TEST_F(OwnStore, RottenFilesStayRottenWhenTheyAreInstalledAgain) {
  const std::string path = install();
  rot(path, 9 * kMiB);
  EXPECT_EQ(verdict("own"), "rotten");
  ASSERT_TRUE(catalogue_->install(*ModelName::parse("own"), installed_));
  EXPECT_EQ(model("own").artifact.status, ArtifactStatus::kRotten);
  EXPECT_FALSE(is_hashed("own"));
}

// ---- faults ----

class VerifyFaults : public VerifyFront, public ::testing::WithParamInterface<int> {};

// Whatever goes wrong while it reads: what is called good is what the file holds and held, and
// nothing is lost by being looked at.
TEST_P(VerifyFaults, NothingWrongIsCalledGood) {
  Random random{static_cast<std::uint64_t>(GetParam())};
  const std::string path = import_model("tiny", random.next() % 5 == 0 ? 5 : 0);
  const std::uint64_t size = std::filesystem::file_size(path);
  const std::string good = sha_of_file(path);
  if (random.next() % 2 == 0) {
    ASSERT_EQ(verdict("tiny"), "good");
  }
  const bool known = is_hashed("tiny");
  const auto fault = random.next() % 6;
  const std::uint64_t at = 8192 + random.next() % (size - 8192);
  int left = 1 + static_cast<int>(random.next() % 12);
  files_.on_read = [&]() -> Result<> {
    if (--left != 0) return {};
    if (fault == 0) rot(path, at);
    if (fault == 1) flip_byte(path, at), touch(path);
    if (fault == 2) std::filesystem::remove(path);
    if (fault == 3) std::filesystem::resize_file(path, at);
    if (fault == 4) return fail(ErrorCode::kUnavailable, "read: input/output error");
    return {};
  };
  (void)verdict("tiny");
  files_.on_read = nullptr;
  const std::string last = verdict("tiny");
  const bool same = std::filesystem::exists(path) && sha_of_file(path) == good;
  if (same) {
    EXPECT_EQ(last, "good");
    EXPECT_EQ(model("tiny").artifact.content(), good);
  } else {
    EXPECT_FALSE(known && fault == 0 && last == "good") << "rot was not seen";
    if (is_hashed("tiny") && std::filesystem::exists(path) &&
        model("tiny").artifact.status == ArtifactStatus::kOk) {
      EXPECT_EQ(model("tiny").artifact.content(), sha_of_file(path));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, VerifyFaults, ::testing::Range(0, 100));

}  // namespace
}  // namespace hearth::front
