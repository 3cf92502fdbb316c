// SPDX-License-Identifier: Apache-2.0
#include "front/pulls/pulls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/forwarding_files.h"
#include "front/pulls/testing/sim_pulls.h"

namespace hearth::front {
namespace {

using namespace literals;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Told;
using Trouble = testing::SimWeb::Trouble;

class PullsTest : public testing::SimPulls {
 protected:
  void SetUp() override { open(); }

  template <class T>
  std::optional<T> wait_for(Task<T> task) {
    std::optional<T> value;
    loop_.spawn(keep(std::move(task), &value));
    fetchers_->settle();
    return value;
  }
  template <class T>
  static Task<void> keep(Task<T> task, std::optional<T>* into) {
    into->emplace(co_await std::move(task));
  }
};

TEST_F(PullsTest, BringsAFileIntoStoreAndCatalogue) {
  const std::string content = model(1);
  Told told;
  pull(told, publish("tiny", content));
  ASSERT_TRUE(told.done) << told.error->message();
  EXPECT_EQ(told.done->received, static_cast<std::int64_t>(content.size()));
  EXPECT_EQ(told.done->bytes, static_cast<std::int64_t>(content.size()));
  const auto model = listed(told.done->model);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->artifact.store, Store::kHearth);
  EXPECT_EQ(model->artifact.shards[0].sha256, digest(content));
  EXPECT_EQ(model->artifact.origin.files[0].sha256, digest(content));
  EXPECT_EQ(content_of(model->artifact.shards[0].path), content);
  EXPECT_THAT(names_in("models/partial"), IsEmpty());
  EXPECT_THAT(pulls_->statuses(), IsEmpty());
  EXPECT_EQ(fetchers_->living(), 0U);
}

TEST_F(PullsTest, NothingRunsWithoutAPull) {
  loop_.run_for(1h);
  EXPECT_EQ(fetchers_->spawned(), 0);
}

TEST_F(PullsTest, AnIndexIsAskedAndItsPromiseKept) {
  Told told;
  pull(told, publish_repository("tiny", model(1)));
  ASSERT_TRUE(told.done) << told.error->message();
  EXPECT_THAT(told.stages(), ::testing::IsSupersetOf({"metadata", "download", "install"}));
  EXPECT_EQ(web_.wanted.at(0).sha256, digest(model(1)));
  EXPECT_TRUE(listed("hf.co/org/tiny")) << told.done->model;
}

TEST_F(PullsTest, TheTokenGoesToItsOwnServerOnly) {
  token_ = "hf_secret";
  Told first, second;
  pull(first, publish_repository("tiny", model(1)));
  pull(second, publish("other", model(2)));
  ASSERT_TRUE(first.done && second.done);
  const wire::HttpField token{"Authorization", "Bearer hf_secret"};
  EXPECT_THAT(web_.asked.at(0).headers, ::testing::Contains(token));
  EXPECT_EQ(web_.wanted.at(0).headers.size(), 1U);
  EXPECT_EQ(web_.wanted.at(1).headers.size(), 0U);
}

TEST_F(PullsTest, TheTokenIsNotSentInClearText) {
  token_ = "hf_secret";
  SourceServers servers;
  servers.huggingface = "http://mirror.example";
  Told told;
  told.waiter = pulls_->join(*parse_source("hf.co/org/tiny", servers), "", std::nullopt);
  loop_.spawn(testing::follow(&told));
  fetchers_->settle();
  ASSERT_FALSE(web_.asked.empty());
  EXPECT_THAT(web_.asked.at(0).url, HasSubstr("http://mirror.example"));
  for (const wire::HttpField& field : web_.asked.at(0).headers) {
    EXPECT_NE(field.name, "Authorization");
  }
  fetchers_->steps(5);
}

TEST_F(PullsTest, WhatCameIsCountedInItsStage) {
  Told told;
  pull(told, publish("tiny", model(1)));
  Bytes came;
  for (const Stage& stage : told.waiter->stages()) came += stage.bytes;
  EXPECT_EQ(came, Bytes{model(1).size()});
}

TEST_F(PullsTest, StagesCoverTheWholePull) {
  Told told;
  pull(told, publish("tiny", model(1)));
  const std::vector<Stage>& stages = told.waiter->stages();
  ASSERT_GE(stages.size(), 3U);
  EXPECT_EQ(stages.front().kind, StageKind::kArtifactMetadata);
  EXPECT_EQ(stages.back().kind, StageKind::kArtifactVerify);
  for (std::size_t i = 1; i < stages.size(); ++i) EXPECT_EQ(stages[i].start, stages[i - 1].end);
}

// ---- who waits ----

TEST_F(PullsTest, TwoWhoAskShareOneDownload) {
  const std::string source = publish("tiny", model(1));
  Told first, second;
  ask(first, source);
  fetchers_->steps(2);
  pull(second, source, "mine");
  ASSERT_TRUE(first.done && second.done);
  EXPECT_EQ(fetchers_->spawned(), 1);
  EXPECT_EQ(web_.received, model(1).size());
  EXPECT_TRUE(listed(first.done->model));
  EXPECT_EQ(second.done->model, "mine");
  EXPECT_TRUE(listed("mine"));
}

TEST_F(PullsTest, OneOfTwoLeavesAndTheOtherGetsIt) {
  const std::string source = publish("tiny", model(1));
  Told first, second;
  ask(first, source);
  ask(second, source);
  fetchers_->steps(2);
  cancel(first);
  EXPECT_EQ(first.error->code(), ErrorCode::kCancelled);
  EXPECT_EQ(fetchers_->living(), 1U);
  fetchers_->steps(60);
  EXPECT_TRUE(second.done);
}

TEST_F(PullsTest, TheLastWhoLeavesPausesIt) {
  const std::string source = publish("tiny", model(1));
  Told first, second;
  ask(first, source);
  fetchers_->steps(4);
  cancel(first);
  EXPECT_EQ(fetchers_->living(), 0U);
  ASSERT_EQ(pulls_->statuses().size(), 1U);
  EXPECT_EQ(pulls_->statuses()[0].state, "paused");
  EXPECT_GT(pulls_->statuses()[0].done, 0);
  EXPECT_EQ(pulls_->statuses()[0].total, static_cast<std::int64_t>(model(1).size()));
  pull(second, source);
  ASSERT_TRUE(second.done);
  EXPECT_LT(second.done->received, static_cast<std::int64_t>(model(1).size()));
  EXPECT_LE(web_.received, model(1).size() + testing::SimFetcher::kPart);
}

TEST_F(PullsTest, WhoComesWhileItIsBeingPausedIsServed) {
  const std::string source = publish("tiny", model(1));
  Told first, second;
  ask(first, source);
  fetchers_->steps(2);
  first.waiter->cancel();  // and the loop has not run yet
  pull(second, source);
  EXPECT_TRUE(second.done);
}

TEST_F(PullsTest, ADetachedOneGoesOnAlone) {
  auto waiter = pulls_->join(*parse_source(publish("tiny", model(1)), {}), "", std::nullopt);
  waiter->detach();
  waiter.reset();
  fetchers_->steps(60);
  EXPECT_TRUE(listed("tiny"));
}

TEST_F(PullsTest, WithItsLayerOffAPausedOneKeepsNothing) {
  close();
  paused_parts_ = Pulls::PausedParts::kDropped;
  open();
  Told told;
  ask(told, publish("tiny", model(1)));
  fetchers_->steps(3);
  EXPECT_THAT(names_in("models/partial"), Not(IsEmpty()));
  cancel(told);
  EXPECT_THAT(names_in("models/partial"), IsEmpty());
  EXPECT_THAT(pulls_->statuses(), IsEmpty());
}

TEST_F(PullsTest, TwoRunAndTheOthersWaitInOrder) {
  Told told[4];
  for (int i = 0; i < 4; ++i) {
    ask(told[i], publish("m" + std::to_string(i), model(i)));
  }
  EXPECT_EQ(fetchers_->living(), 2U);
  EXPECT_EQ(told[2].progress.at(0).stage, "queue");
  cancel(told[0]);
  EXPECT_EQ(fetchers_->living(), 2U);
  EXPECT_EQ(web_.wanted.back().url, "https://models.example/m2.gguf");
  fetchers_->steps(200);
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(told[i].done) << i;
}

TEST_F(PullsTest, ProgressIsToldAtMostTenTimesASecond) {
  std::string large = model(1);
  large.resize(1 << 20);
  Told told;
  ask(told, publish("large", large));
  fetchers_->steps(100);  // one second
  EXPECT_GE(told.progress.size(), 8U);
  EXPECT_LE(told.progress.size(), 16U);  // steps and their ends are told of at once
  EXPECT_GT(told.progress.back().bytes_per_s, 0);
  EXPECT_TRUE(told.progress.back().eta_ms);
  cancel(told);
}

TEST_F(PullsTest, WhoeverListensHearsOfIt) {
  EventBus::Subscription subscription{events_};
  Told told;
  pull(told, publish("tiny", model(1)));
  const auto event = wait_for(subscription.next(loop_.now() + 1s));
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->type, "pull");
  EXPECT_THAT((*event)->data, HasSubstr("\"state\":\"queued\""));
}

// ---- what goes wrong ----

TEST_F(PullsTest, AFetcherThatDiesIsReplaced) {
  int deaths = 2;
  web_.trouble = [&] {
    return web_.received > 6000 && deaths-- > 0 ? Trouble::kDies : Trouble::kNone;
  };
  Told told;
  ask(told, publish("tiny", model(1)));
  for (int i = 0; i < 400 && !told.over(); ++i) fetchers_->step();
  ASSERT_TRUE(told.done);
  EXPECT_EQ(fetchers_->spawned(), 3);
}

TEST_F(PullsTest, AFetcherThatDiesAgainAndAgainIsGivenUp) {
  web_.trouble = [] { return Trouble::kDies; };
  Told told;
  pull(told, publish("tiny", model(1)));
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->code(), ErrorCode::kUnavailable);
  EXPECT_EQ(fetchers_->spawned(), Fetcher::kTries);
}

TEST_F(PullsTest, AFlippedByteNeverGetsIntoTheStore) {
  int flips = 1;
  web_.trouble = [&] { return flips-- > 0 ? Trouble::kNone : Trouble::kFlips; };
  Told told;
  pull(told, publish_repository("tiny", model(1)));
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->code(), ErrorCode::kCorrupt);
  EXPECT_THAT(names_in("models/blobs"), IsEmpty());
  EXPECT_FALSE(listed("hf.co/org/tiny"));
  EXPECT_EQ(pulls_->statuses().at(0).state, "failed");
}

TEST_F(PullsTest, WhatIsNoModelIsNotKept) {
  Told told;
  pull(told, publish("notes", std::string(9000, 'x')));
  ASSERT_TRUE(told.error);
  EXPECT_THAT(names_in("models/blobs"), IsEmpty());
}

TEST_F(PullsTest, ASourceThatIsNotThereLeavesNoTrace) {
  Told told;
  pull(told, "hf.co/org/none");
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->code(), ErrorCode::kNotFound);
  EXPECT_THAT(pulls_->statuses(), IsEmpty());
  EXPECT_THAT(names_in("models/partial"), IsEmpty());
}

class FullDisk : public hearth::testing::ForwardingFiles {
 public:
  Result<Space> space(const std::string&) const override { return Space{1_MiB, 1_GiB}; }
};

class FullDiskPulls : public PullsTest {
  const Files& files() const override { return disk_; }
  FullDisk disk_;
};

TEST_F(FullDiskPulls, NeedAndFreeAreNamedBeforeAnythingIsFetched) {
  std::string large = model(1);
  large.resize(4 << 20);
  Told told;
  pull(told, publish_repository("large", large));
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->code(), ErrorCode::kNoSpace);
  EXPECT_THAT(told.error->message(), HasSubstr("needs 4.0 MiB"));
  EXPECT_THAT(web_.wanted, IsEmpty());
}

TEST_F(PullsTest, RoomTakenForAFileIsGivenBackWhenNothingOfItCame) {
  web_.trouble = [&] { return web_.wanted.empty() ? Trouble::kNone : Trouble::kFails; };
  Told told;
  pull(told, publish_repository("tiny", model(1)));
  ASSERT_TRUE(told.error);
  EXPECT_THAT(names_in("models/partial"), IsEmpty());
  EXPECT_THAT(pulls_->statuses(), IsEmpty());
}

TEST_F(PullsTest, PartsOfAnEarlierRunAreKeptWhenTheIndexDoesNotAnswer) {
  const std::string source = publish_repository("tiny", model(1));
  Told first, second;
  ask(first, source);
  fetchers_->steps(4);
  close();
  open();
  web_.trouble = [] { return Trouble::kDies; };
  pull(second, source);
  ASSERT_TRUE(second.error);
  ASSERT_EQ(pulls_->statuses().size(), 1U);
  EXPECT_GT(pulls_->statuses()[0].done, 0);
  EXPECT_EQ(names_in("models/partial").size(), 1U);
}

TEST_F(PullsTest, AFileThatIsClosedThoughItsIndexIsOpenSaysWhatToDo) {
  const std::string source = publish_repository("tiny", model(1));
  const std::string url = web_.files.begin()->first;
  web_.texts[url] = {401, "", {{"x-error-code", "GatedRepo"}}};
  int asked = 0;
  web_.trouble = [&] {
    const bool of_file = web_.wanted.size() == 1 && asked++ == 0;
    return of_file ? Trouble::kFails : Trouble::kNone;
  };
  Told told;
  pull(told, source);
  ASSERT_TRUE(told.error);
  EXPECT_THAT(told.error->message(), HasSubstr("HF_TOKEN"));
  EXPECT_THAT(told.error->message(), HasSubstr("gated"));
}

// ---- what is here already ----

TEST_F(PullsTest, ARottenFileIsFetchedAgain) {
  Told first, second;
  const std::string source = publish_repository("tiny", model(1));
  pull(first, source);
  const std::string path = listed("hf.co/org/tiny")->artifact.shards[0].path;
  std::ofstream{path, std::ios::in | std::ios::binary}.put('x');
  rotten_.insert(path);
  pull(second, source);
  ASSERT_TRUE(second.done) << second.error->message();
  EXPECT_FALSE(second.done->was_there);
  EXPECT_EQ(content_of(path), model(1));
}

TEST_F(PullsTest, WhoComesDuringTheInstallGetsItsNameToo) {
  const std::string source = publish_repository("tiny", model(1));
  Told first, late;
  hold_installs_ = true;
  ask(first, source, "first");
  fetchers_->steps(120);
  ask(late, source, "late");
  hold_installs_ = false;
  installs_go_on_.notify_all();
  fetchers_->steps(5);
  ASSERT_TRUE(first.done && late.done);
  EXPECT_EQ(late.done->model, "late");
  EXPECT_TRUE(listed("late"));
  EXPECT_EQ(web_.received, model(1).size());
}

TEST_F(PullsTest, WhatIsInTheStoreIsNotFetched) {
  Told first, second;
  pull(first, publish_repository("tiny", model(1)));
  pull(second, publish_repository("twin", model(1)));
  ASSERT_TRUE(second.done);
  EXPECT_TRUE(second.done->was_there);
  EXPECT_EQ(second.done->received, 0);
  EXPECT_EQ(web_.received, model(1).size());
  EXPECT_TRUE(listed("hf.co/org/twin"));
}

TEST_F(PullsTest, AFileThatItsServerSaysIsTheSameIsNotFetchedAgain) {
  const std::string range = "bytes 0-0/" + std::to_string(model(1).size());
  for (const bool same : {true, false}) {
    Told first, second;
    const std::string url = publish("tiny", model(1));
    pull(first, url);
    web_.received = 0;
    web_.texts[url] = {206, "G", {{"etag", same ? "\"v1\"" : "\"v2\""}, {"content-range", range}}};
    pull(second, url);
    ASSERT_TRUE(second.done);
    EXPECT_EQ(second.done->was_there, same);
    EXPECT_EQ(web_.received, same ? 0 : model(1).size());
  }
}

TEST_F(PullsTest, TheEndOfEachStepIsTold) {
  Told told;
  pull(told, publish_repository("tiny", model(1)));
  std::int64_t most = 0;
  for (const TransferProgress& one : told.progress) {
    if (!one.digest.empty()) most = std::max(most, one.done);
  }
  EXPECT_EQ(most, static_cast<std::int64_t>(model(1).size()));
}

TEST_F(PullsTest, TwoSourcesOfTheSameContentFetchItOnce) {
  Told first, second;
  const std::string a = publish_repository("tiny", model(1));
  ask(first, a);
  ask(second, publish_repository("twin", model(1)));
  fetchers_->steps(120);
  ASSERT_TRUE(first.done && second.done);
  EXPECT_EQ(web_.received, model(1).size());
}

TEST_F(PullsTest, ANewVersionTakesTheNamesPlace) {
  Told first, second;
  pull(first, publish("tiny", model(1)));
  const std::string before = listed("tiny")->artifact.id;
  pull(second, publish("tiny", model(2)));
  ASSERT_TRUE(second.done) << second.error->message();
  EXPECT_NE(listed("tiny")->artifact.id, before);
  EXPECT_EQ(content_of(listed("tiny")->artifact.shards[0].path), model(2));
}

TEST_F(PullsTest, AnAbsentModelComesBackWithAllItsNames) {
  Told first, again;
  pull(first, publish_repository("tiny", model(1)), "tiny");
  ASSERT_TRUE(catalogue_->copy(*ModelName::parse("tiny"), *ModelName::parse("second")));
  const NamedModel named = *listed("tiny");
  ASSERT_TRUE(catalogue_->note_absent(named.artifact.id));
  ASSERT_TRUE(drop_unused(*catalogue_, *store_, {named.artifact.shards[0].path}));
  EXPECT_THAT(names_in("models/blobs"), IsEmpty());
  const auto plan = plan_again(*listed("tiny"));
  ASSERT_TRUE(plan) << plan.error().message();
  web_.asked.clear();
  ask(again, plan->source, "tiny", *plan);
  fetchers_->steps(120);
  ASSERT_TRUE(again.done) << (again.error ? again.error->message() : "");
  EXPECT_THAT(web_.asked, IsEmpty());  // what is wanted is known
  EXPECT_EQ(listed("tiny")->artifact.status, ArtifactStatus::kOk);
  EXPECT_EQ(listed("second")->artifact.id, listed("tiny")->artifact.id);
}

TEST_F(PullsTest, WhatIsGoneAtItsPublishersIsFetchedAsItIsNow) {
  Told first, again;
  const std::string source = publish_repository("tiny", model(1));
  pull(first, source, "tiny");
  const NamedModel named = *listed("tiny");
  ASSERT_TRUE(catalogue_->note_absent(named.artifact.id));
  ASSERT_TRUE(drop_unused(*catalogue_, *store_, {named.artifact.shards[0].path}));
  const auto plan = plan_again(*listed("tiny"));
  web_.files.clear();
  publish_repository("tiny", model(2));
  FetchPlan old = *plan;
  old.files[0].url += ".old";
  ask(again, source, "tiny", old);
  fetchers_->steps(120);
  ASSERT_TRUE(again.done) << (again.error ? again.error->message() : "");
  EXPECT_EQ(listed("tiny")->artifact.shards[0].sha256, digest(model(2)));
}

// ---- parts ----

TEST_F(PullsTest, ARestartListsPartsAndGoesOnWithThem) {
  const std::string source = publish("tiny", model(1));
  Told first, second;
  ask(first, source);
  fetchers_->steps(4);
  close();
  EXPECT_EQ(first.error->code(), ErrorCode::kUnavailable);
  open();
  ASSERT_EQ(pulls_->statuses().size(), 1U);
  EXPECT_EQ(pulls_->statuses()[0].source, source);
  EXPECT_EQ(pulls_->statuses()[0].state, "paused");
  EXPECT_GT(pulls_->statuses()[0].done, 0);
  EXPECT_EQ(fetchers_->spawned(), 0);
  pull(second, source);
  ASSERT_TRUE(second.done);
  EXPECT_LT(second.done->received, second.done->bytes);
}

TEST_F(PullsTest, AStopTellsAllAndKeepsOrDrops) {
  for (const auto parts : {Service::Parts::kKeep, Service::Parts::kDrop}) {
    Told first, second;
    const std::string source = publish("tiny", model(1));
    ask(first, source);
    ask(second, source);
    fetchers_->steps(3);
    const auto stopped = wait_for(pulls_->stop_pull("tiny", parts));
    ASSERT_TRUE(stopped && *stopped);
    EXPECT_EQ(first.error->code(), ErrorCode::kCancelled);
    EXPECT_EQ(second.error->code(), ErrorCode::kCancelled);
    const std::size_t left = parts == Service::Parts::kKeep ? 1 : 0;
    EXPECT_EQ(names_in("models/partial").size(), left);
    EXPECT_EQ(pulls_->statuses().size(), left);
  }
}

TEST_F(PullsTest, PartsOfOneThatIsPausedCanBeDropped) {
  Told told;
  const std::string source = publish("tiny", model(1));
  ask(told, source);
  fetchers_->steps(3);
  cancel(told);
  const auto stopped = wait_for(pulls_->stop_pull(source, Service::Parts::kDrop));
  ASSERT_TRUE(stopped && *stopped);
  EXPECT_THAT(names_in("models/partial"), IsEmpty());
  EXPECT_FALSE(*wait_for(pulls_->stop_pull(source, Service::Parts::kDrop)));
}

Task<void> drop_old(Pulls* pulls, std::set<std::string> awaited = {}) {
  co_await pulls->drop_older_than(24h, std::move(awaited));
}

TEST_F(PullsTest, OldPartsGoThatNobodyKnowsTheSourceOf) {
  Told told;
  ask(told, publish("old", model(1)));
  fetchers_->steps(3);
  cancel(told);
  close();
  const std::string parts = directory_ / ("models/partial/" + names_in("models/partial").at(0));
  std::ofstream{parts + "/about.json"} << "torn";
  const std::chrono::sys_time written{std::chrono::microseconds{loop_.clock().wall_us()}};
  for (const char* name : {"/data", "/journal"}) {
    std::filesystem::last_write_time(parts + name, std::chrono::file_clock::from_sys(written));
  }
  open();
  EXPECT_THAT(pulls_->statuses(), IsEmpty());
  loop_.spawn(drop_old(pulls_.get()));
  fetchers_->settle();
  EXPECT_EQ(names_in("models/partial").size(), 1U);
  loop_.run_for(25h);
  loop_.spawn(drop_old(pulls_.get()));
  fetchers_->settle();
  EXPECT_THAT(names_in("models/partial"), IsEmpty());
}

TEST_F(PullsTest, PartsOfAListedModelStayHoweverOld) {
  Told told;
  const std::string source = publish("old", model(1));
  ask(told, source);
  fetchers_->steps(3);
  cancel(told);
  loop_.run_for(25h);
  loop_.spawn(drop_old(pulls_.get(), {source}));
  fetchers_->settle();
  EXPECT_EQ(names_in("models/partial").size(), 1U);
}

TEST_F(PullsTest, OldPartsGoUnlessTheyAreInUse) {
  Told old, used;
  ask(old, publish("old", model(1)));
  fetchers_->steps(3);
  cancel(old);
  ask(used, publish("used", model(2)));
  fetchers_->steps(3);
  loop_.spawn(drop_old(pulls_.get()));
  fetchers_->settle();
  EXPECT_EQ(names_in("models/partial").size(), 2U);
  loop_.run_for(25h);
  loop_.spawn(drop_old(pulls_.get()));
  fetchers_->settle();
  EXPECT_EQ(names_in("models/partial").size(), 1U);
  fetchers_->steps(60);
  EXPECT_TRUE(used.done);
}

}  // namespace
}  // namespace hearth::front
