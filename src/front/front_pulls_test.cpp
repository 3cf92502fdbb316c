// SPDX-License-Identifier: Apache-2.0
//
// Models that are fetched, given back and fetched again, as the whole front does it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/event_loop_asio.h"
#include "front/front_service.h"
#include "front/testing/scripted_worker.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"
#include "transfer/download.h"
#include "wire/fetch_messages.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::answer;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::FrameType;

// What there is elsewhere, and a gate before it.
struct Elsewhere {
  std::map<std::string, std::string> files;  // by URL; not changed while anything runs
  std::mutex mutex;
  std::condition_variable changed;
  bool is_shut = false;

  void shut() {
    const std::lock_guard lock{mutex};
    is_shut = true;
  }
  void let_go() {
    const std::lock_guard lock{mutex};
    is_shut = false;
    changed.notify_all();
  }
  void pass() {
    std::unique_lock lock{mutex};
    changed.wait(lock, [this] { return !is_shut; });
  }
};

Result<transfer::Finished> download(const std::string& content, wire::Frame& frame) {
  auto opened = transfer::Download::open(Files::real(), std::move(frame.descriptors.at(0)),
                                         std::move(frame.descriptors.at(1)), {});
  if (!opened) return Failed{opened.error()};
  transfer::Download& download = **opened;
  for (auto hashed = download.hash_some(); hashed != transfer::HashStep::kComplete;
       hashed = download.hash_some()) {
    if (!hashed) return Failed{hashed.error()};
    const auto range = download.next();
    if (!range) continue;
    const auto answered = download.answered({Bytes{content.size()}, "\"v1\""});
    if (!answered) return Failed{answered.error()};
    const std::string bytes = content.substr(range->begin);
    (void)download.arrived(range->id, std::as_bytes(std::span{bytes}));
    (void)download.ended(range->id, transfer::HowEnded::kWhole);
  }
  return download.finish();
}

// A fetcher that is a thread of the test.
bool fetches(Elsewhere& elsewhere, wire::BlockingChannel& channel, wire::Frame& frame) {
  if (frame.type == FrameType::kFetchText) {
    wire::FetchedText nothing;
    nothing.status = 404;
    answer(channel, FrameType::kFetchedText, frame.request, wire::encode(nothing));
  }
  if (frame.type != FrameType::kFetchFile) return true;
  const std::string& content = elsewhere.files.at(wire::decode_fetch_file(frame.payload)->url);
  wire::Fetching fetching;
  fetching.stage = "download";
  fetching.done = Bytes{1000};
  fetching.total = Bytes{content.size()};
  fetching.received = Bytes{1000};
  answer(channel, FrameType::kFetching, frame.request, wire::encode(fetching));
  elsewhere.pass();
  const auto finished = download(content, frame);
  if (!finished) return false;
  wire::Fetched fetched{hex_of(finished->sha256), "\"v1\"", finished->size, finished->size};
  answer(channel, FrameType::kFetched, frame.request, wire::encode(fetched));
  return true;
}

class FrontProcesses : public Processes {
 public:
  explicit FrontProcesses(Elsewhere& elsewhere) : elsewhere_{elsewhere} {}

  Result<std::unique_ptr<Process>> spawn(const ProcessSpec& spec) override {
    testing::Script script = testing::well_behaved;
    if (spec.argv.at(0) == "fetcher") {
      ++fetchers_;
      script = [this](wire::BlockingChannel& channel, const wire::Frame& frame) {
        // The frame is the channel's own, and nobody looks at it after this.
        return fetches(elsewhere_, channel, const_cast<wire::Frame&>(frame));
      };
    }
    return std::unique_ptr<Process>{std::make_unique<testing::ScriptedProcess>(std::move(script))};
  }
  int fetchers() const { return fetchers_; }

 private:
  Elsewhere& elsewhere_;
  std::atomic<int> fetchers_{0};
};

struct Heard {
  std::vector<std::string> stages;
  std::optional<Finished> finished;
  std::optional<Refused> refused;

  bool over() const { return finished || refused; }
  bool has_begun(const std::string& stage) const { return std::ranges::count(stages, stage) > 0; }
};

// A limit that a request waits for is reached when the test says so, not when time has passed.
class LoopWithALimit : public AsioEventLoop {
 public:
  static constexpr Duration kLimit = 10'000h;  // nothing else waits for so long

  TimerId call_at(TimePoint when, Callback callback) override {
    if (when < now() + kLimit / 2) return AsioEventLoop::call_at(when, std::move(callback));
    at_limit_ = std::move(callback);
    return AsioEventLoop::call_at(when, [] {});
  }
  void reach_limit() {
    if (at_limit_) post(std::exchange(at_limit_, {}));
  }

 private:
  Callback at_limit_;
};

class FrontPullsTest : public ::testing::Test {
 protected:
  using Body = Task<void> (*)(FrontPullsTest*);

  void SetUp() override {
    config_.data = directory_ / "data";
    config_.pull_hosts.emplace_back("models.example");
    config_.stores.clear();
    std::filesystem::create_directory(config_.data);
  }
  void open() {
    loop_ = std::make_unique<LoopWithALimit>();
    FrontService::World world{*loop_, Clock::real(), Files::real(), processes_, "worker", 7};
    world.fetcher_program = "fetcher";
    auto opened = FrontService::open(std::move(world), config_);
    ASSERT_TRUE(opened) << opened.error().message();
    service_ = std::move(*opened);
    service_->start();
  }
  void run(Body body) {
    open();
    loop_->spawn(finish(this, body));
    loop_->run();
    service_.reset();
  }
  static Task<void> finish(FrontPullsTest* test, Body body) {
    co_await body(test);
    co_await test->service_->stop(test->loop_->now() + 5s);
    test->loop_->stop();
  }

  static std::string model(int number) {
    auto file = hearth::testing::GgufBuilder::small_model();
    file.u32("test.number", static_cast<std::uint32_t>(number));
    return file.bytes();
  }
  std::string publish(int number) {
    elsewhere_.files["https://models.example/tiny.gguf"] = model(number);
    return "https://models.example/tiny.gguf";
  }
  std::vector<std::string> blobs() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator{config_.data + "/models/blobs", none}) {
      const std::string name = entry.path().filename();
      if (!name.ends_with(".parts")) names.push_back(name);
    }
    return names;
  }

  static Task<TransferEvent> end_of(std::unique_ptr<Transfer> transfer) {
    for (;;) {
      TransferEvent event = co_await transfer->next();
      if (!std::holds_alternative<TransferProgress>(event)) co_return event;
    }
  }
  // Pulls "tiny".
  static Task<void> pull(FrontPullsTest* test, std::string source) {
    PullRequest request;
    request.source = std::move(source);
    request.name = "tiny";
    TransferEvent event = co_await end_of(test->service_->pull(std::move(request)));
    EXPECT_TRUE(std::holds_alternative<TransferDone>(event));
  }
  static Task<void> refuses(FrontPullsTest* test, std::string source, std::string name,
                            std::string field) {
    PullRequest request;
    request.source = std::move(source);
    request.name = std::move(name);
    const TransferEvent event = co_await end_of(test->service_->pull(std::move(request)));
    const auto* error = std::get_if<Error>(&event);
    EXPECT_NE(error, nullptr);
    if (error == nullptr) co_return;
    EXPECT_EQ(error->code(), ErrorCode::kInvalid) << error->message();
    EXPECT_EQ(error->field(), field);
  }
  std::unique_ptr<Reply> ask(std::optional<Duration> wait = std::nullopt) {
    GenerateRequest request;
    request.context.model = "tiny";
    request.context.first_byte = loop_->now();
    request.context.wait_limit = wait;
    request.message.prompt = "hi";
    return service_->generate(std::move(request), Delivery::kWhole);
  }
  static Task<void> listen(std::unique_ptr<Reply> reply, Heard* heard) {
    while (!heard->over()) {
      Event event = co_await reply->next();
      if (auto* progress = std::get_if<Progress>(&event)) heard->stages.push_back(progress->stage);
      if (auto* finished = std::get_if<Finished>(&event)) heard->finished = std::move(*finished);
      if (auto* refused = std::get_if<Refused>(&event)) heard->refused = std::move(*refused);
    }
    reply->sent(heard->finished ? 200 : 503);
  }
  // With "tiny" pulled and given back.
  static Task<void> give_back(FrontPullsTest* test) {
    co_await pull(test, test->publish(1));
    std::string name = "tiny", layer = "artifact";
    const auto cooled = co_await test->service_->cool(name, layer);
    EXPECT_TRUE(cooled) << cooled.error().message();
    EXPECT_THAT(test->blobs(), IsEmpty());
  }

  hearth::testing::TempDir directory_;
  Elsewhere elsewhere_;
  FrontProcesses processes_{elsewhere_};
  Config config_;
  std::unique_ptr<LoopWithALimit> loop_;
  std::unique_ptr<FrontService> service_;

  // What tests do.
  static Task<void> pulls_and_asks(FrontPullsTest* test) {
    co_await pull(test, test->publish(1));
    Heard heard;
    co_await listen(test->ask(), &heard);
    EXPECT_TRUE(heard.finished);
  }
  static Task<void> asks(FrontPullsTest* test) {
    Heard heard;
    co_await listen(test->ask(), &heard);
    EXPECT_TRUE(heard.finished);
  }
  static Task<void> asks_for_what_is_absent(FrontPullsTest* test) {
    co_await give_back(test);
    Heard heard;
    co_await listen(test->ask(), &heard);
    EXPECT_THAT(heard.stages, Contains("download"));
    EXPECT_TRUE(heard.finished);
    if (!heard.finished) co_return;
    const RequestReport& report = heard.finished->report;
    EXPECT_EQ(report.response_class, ResponseClass::kArtifactCold);
    EXPECT_EQ(report.verdict->code, VerdictCode::kArtifactAbsent);
    EXPECT_EQ(report.before.artifact.level, "absent");
    EXPECT_TRUE(report.timings.has(StageKind::kArtifactDownload));
    EXPECT_TRUE(report.timings.has(StageKind::kArtifactVerify));
    // Its time has a name, but for what a busy machine puts between any two stages.
    EXPECT_LT(report.timings.other, report.timings.total / 4);
    EXPECT_EQ(test->service_->model("tiny")->status, "ok");
  }
  // What it brought is the store's: given back at once, nothing of it is here.
  static Task<void> looks_at_a_finished_pull(FrontPullsTest* test) {
    co_await pull(test, test->publish(1));
    for (const PullStatus& status : test->service_->pulls()) EXPECT_EQ(status.done, 0);
  }
  static Task<void> waits_too_short(FrontPullsTest* test) {
    co_await give_back(test);
    test->elsewhere_.shut();
    Heard heard;
    test->loop_->spawn(listen(test->ask(LoopWithALimit::kLimit), &heard));
    while (!heard.over() && !heard.has_begun("download")) co_await test->loop_->yield();
    test->loop_->reach_limit();
    while (!heard.over()) co_await test->loop_->yield();
    test->elsewhere_.let_go();
    EXPECT_TRUE(heard.refused);
    if (!heard.refused) co_return;
    EXPECT_EQ(heard.refused->error.code(), ErrorCode::kUnavailable);
    EXPECT_TRUE(heard.refused->retry_after_s);
    EXPECT_TRUE(heard.refused->report.timings.has(StageKind::kArtifactDownload));
    EXPECT_EQ(test->service_->model("tiny")->status, "absent");
  }
  static Task<void> one_of_two_goes_away(FrontPullsTest* test) {
    co_await give_back(test);
    test->elsewhere_.shut();
    Heard stays, goes;
    std::unique_ptr<Reply> leaving = test->ask();
    test->loop_->spawn(listen(test->ask(), &stays));
    leaving->cancel();
    co_await listen(std::move(leaving), &goes);
    EXPECT_TRUE(goes.refused);
    test->elsewhere_.let_go();
    while (!stays.over()) co_await test->loop_->yield();
    EXPECT_TRUE(stays.finished);
    EXPECT_EQ(test->processes_.fetchers(), 2);  // one for the first pull
  }
  static Task<void> warms(FrontPullsTest* test) {
    co_await give_back(test);
    std::string name = "tiny", layer = "artifact";
    const auto warmed = co_await test->service_->warm(name, layer);
    EXPECT_TRUE(warmed) << warmed.error().message();
    EXPECT_EQ(test->service_->model("tiny")->status, "ok");
    EXPECT_EQ(test->blobs().size(), 1U);
  }
  static Task<void> previews(FrontPullsTest* test) {
    co_await pull(test, test->publish(1));
    std::string name = "tiny", second = "second", layer = "artifact", weights = "weights";
    (void)co_await test->service_->copy_model(name, second);
    const auto preview = co_await test->service_->preview_cool(name, layer);
    EXPECT_TRUE(preview);
    EXPECT_EQ(preview->freed_bytes, static_cast<std::int64_t>(model(1).size()));
    EXPECT_EQ(preview->fetch_bytes, preview->freed_bytes);
    EXPECT_EQ(preview->also, std::vector<std::string>{"second:latest"});
    (void)co_await test->service_->pin(name, weights, Bytes{});
    const auto pinned = co_await test->service_->cool(name, layer);
    EXPECT_FALSE(pinned);
    EXPECT_EQ(pinned.error().code(), ErrorCode::kConflict);
    EXPECT_EQ(test->blobs().size(), 1U);
  }
  static Task<void> keeps_what_is_not_ours(FrontPullsTest* test) {
    const std::string path = test->directory_.write("mine.gguf", model(5));
    std::string name = "mine", layer = "artifact";
    (void)co_await test->service_->import_model(path, name);
    const auto cooled = co_await test->service_->cool(name, layer);
    EXPECT_FALSE(cooled);
    EXPECT_EQ(cooled.error().code(), ErrorCode::kUnsupported);
    EXPECT_THAT(cooled.error().message(), HasSubstr("hearth rm"));
    const auto removed = co_await test->service_->remove_model(name);
    EXPECT_TRUE(removed);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  static Task<void> removes(FrontPullsTest* test) {
    co_await pull(test, test->publish(1));
    std::string name = "tiny", second = "second";
    (void)co_await test->service_->copy_model(name, second);
    (void)co_await test->service_->remove_model(name);
    EXPECT_EQ(test->blobs().size(), 1U);
    (void)co_await test->service_->remove_model(second);
    EXPECT_THAT(test->blobs(), IsEmpty());
  }
  static Task<void> pulls_a_new_version(FrontPullsTest* test) {
    co_await pull(test, test->publish(1));
    Heard heard;
    co_await listen(test->ask(), &heard);
    co_await pull(test, test->publish(2));
    while (test->blobs().size() > 1) co_await test->loop_->sleep(1ms);
    Heard again;
    co_await listen(test->ask(), &again);
    EXPECT_TRUE(again.finished);
  }
  // As a disk does it: nothing else about the file changes.
  void rot() {
    const std::string path = config_.data + "/models/blobs/" + blobs().at(0);
    const FileInfo before = *Files::real().info(path);
    {
      std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
      file.seekp(9000);
      file.put('\xEE');
    }
    const Result<Fd> file = Files::real().open_write(path, Files::Create::kNever);
    ASSERT_TRUE(file && Files::real().set_modified(*file, before.modified_ns));
  }
  static Task<std::string> verify(FrontPullsTest* test, VerifyRequest request) {
    std::unique_ptr<Transfer> transfer = test->service_->verify(std::move(request));
    for (;;) {
      const TransferEvent event = co_await transfer->next();
      if (const auto* error = std::get_if<Error>(&event)) co_return error->message();
      const auto* done = std::get_if<TransferDone>(&event);
      if (done != nullptr) co_return done->verified.at(0).verdict;
    }
  }
  // "tuned": the files of "tiny", and an adapter.
  static Task<void> tune(FrontPullsTest* test) {
    hearth::testing::GgufBuilder lora;
    lora.text("general.architecture", "llama").text("general.type", "adapter");
    lora.text("adapter.type", "lora").tensor("blk.0.attn_q.weight.lora_a", {32, 4}, 0, 512);
    CreateRequest create;
    create.name = "tuned";
    create.from = "tiny";
    create.adapter_paths = {test->directory_.write("lora.gguf", lora.bytes())};
    const auto made = co_await test->service_->create_model(create);
    EXPECT_TRUE(made) << made.error().message();
  }
  static Task<void> finds_rot_in_a_shared_file(FrontPullsTest* test) {
    co_await pull(test, test->publish(1));
    co_await tune(test);
    std::string name = "tiny", layer = "artifact";
    (void)co_await test->service_->cool(name, layer);
    EXPECT_EQ(test->blobs().size(), 1U);
    test->rot();
    const VerifyRequest tuned{"tuned", false}, tiny{"tiny", false};
    const std::string bad = co_await verify(test, tuned);
    EXPECT_EQ(bad, "rotten");
    (void)co_await test->service_->warm(name, layer);
    EXPECT_EQ(test->processes_.fetchers(), 2) << "a rotten file is not here";
    const std::string good = co_await verify(test, tiny);
    EXPECT_EQ(good, "good");
    const std::string good_too = co_await verify(test, tuned);
    EXPECT_EQ(good_too, "good");
  }
  static Task<void> asks_for_what_was_deleted(FrontPullsTest* test) {
    co_await pull(test, test->publish(1));
    std::filesystem::remove(test->config_.data + "/models/blobs/" + test->blobs().at(0));
    Heard first, second;
    co_await listen(test->ask(), &first);
    co_await listen(test->ask(), &second);
    EXPECT_TRUE(second.finished);
  }
  static Task<void> repairs_what_two_use(FrontPullsTest* test) {
    co_await pull(test, test->publish(1));
    co_await tune(test);
    test->rot();
    const VerifyRequest request{"tiny", true};
    const std::string verdict = co_await verify(test, request);
    EXPECT_EQ(verdict, "repaired");
    EXPECT_EQ(test->service_->model("tiny")->status, "ok");
    EXPECT_EQ(test->service_->model("tuned")->status, "ok");
    const VerifyRequest both{"tuned", false};
    const std::string other = co_await verify(test, both);
    EXPECT_EQ(other, "good");
  }
  static Task<void> asks_for_nonsense(FrontPullsTest* test) {
    co_await refuses(test, "https://elsewhere.example/x.gguf", "", "source");
    co_await refuses(test, "../../etc/passwd", "", "source");
    co_await refuses(test, std::string(10'000, 'a'), "", "source");
    co_await refuses(test, test->publish(1), "../x", "name");
    co_await refuses(test, test->publish(1), std::string{"a\0b", 3}, "name");
    EXPECT_EQ(test->processes_.fetchers(), 0);
    EXPECT_FALSE(std::filesystem::exists(test->config_.data + "/models/partial"));
  }
};

TEST_F(FrontPullsTest, AStartAndAnInstalledModelNeedNoFetcher) {
  run(pulls_and_asks);
  EXPECT_EQ(processes_.fetchers(), 1);
  run(asks);
  EXPECT_EQ(processes_.fetchers(), 1);
}

TEST_F(FrontPullsTest, ARequestFetchesWhatWasGivenBack) { run(asks_for_what_is_absent); }
TEST_F(FrontPullsTest, AFinishedPullHoldsNothing) { run(looks_at_a_finished_pull); }
TEST_F(FrontPullsTest, ARequestWaitsNoLongerThanItLikes) { run(waits_too_short); }
TEST_F(FrontPullsTest, ACancelLeavesThePullToTheOthers) { run(one_of_two_goes_away); }
TEST_F(FrontPullsTest, WarmFetchesToo) { run(warms); }
TEST_F(FrontPullsTest, ThePreviewSaysWhatCoolWouldDo) { run(previews); }
TEST_F(FrontPullsTest, FilesOfOthersAreNeverDeleted) { run(keeps_what_is_not_ours); }
TEST_F(FrontPullsTest, OwnFilesGoWithTheLastName) { run(removes); }
TEST_F(FrontPullsTest, ANewVersionTakesTheOldOnesPlace) { run(pulls_a_new_version); }
TEST_F(FrontPullsTest, WhatWasDeletedByHandIsFetchedAgain) { run(asks_for_what_was_deleted); }
TEST_F(FrontPullsTest, ARepairMindsWhoSharesTheFile) { run(repairs_what_two_use); }
TEST_F(FrontPullsTest, ARottenFileIsNotTakenForOneThatIsHere) { run(finds_rot_in_a_shared_file); }
TEST_F(FrontPullsTest, NonsenseIsRefusedBeforeAnythingIsBegun) { run(asks_for_nonsense); }

}  // namespace
}  // namespace hearth::front
