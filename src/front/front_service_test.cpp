// SPDX-License-Identifier: Apache-2.0
#include "front/front_service.h"

#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <memory>
#include <utility>

#include "base/event_loop_asio.h"
#include "front/testing/scripted_worker.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::answer;
using testing::Script;
using testing::ScriptedProcesses;
using testing::well_behaved;
using wire::BlockingChannel;
using wire::Frame;
using wire::FrameType;

// The whole front over a scripted worker: a real catalogue with a small GGUF file in it, the real
// loop, sockets and databases.
class FrontServiceTest : public ::testing::Test {
 protected:
  void open_with(std::vector<Script> scripts) {
    const std::string path = directory_.path() + "/tiny.gguf";
    std::ofstream{path, std::ios::binary} << hearth::testing::GgufBuilder::small_model().bytes();
    processes_ = std::make_unique<ScriptedProcesses>(std::move(scripts));
    config_.data = directory_.path();
    auto opened = FrontService::open(
        FrontService::World{loop_, Clock::real(), Files::real(), *processes_, "scripted", 7},
        config_);
    ASSERT_TRUE(opened) << opened.error().message();
    service_ = std::move(*opened);
    service_->start();
  }

  void run(Task<void> body) {
    loop_.spawn(finish(this, std::move(body)));
    loop_.run();
  }

  static Task<void> finish(FrontServiceTest* test, Task<void> body) {
    std::string path = test->directory_.path() + "/tiny.gguf";
    std::string name = "tiny";
    auto imported = co_await test->service_->import_model(std::move(path), std::move(name));
    EXPECT_TRUE(imported) << imported.error().message();
    co_await std::move(body);
    co_await test->service_->stop(test->loop_.now() + 5s);
    test->loop_.stop();
  }

  std::unique_ptr<Reply> ask(Delivery delivery, const std::string& model = "tiny") {
    GenerateRequest request;
    request.context.model = model;
    request.context.api = "openai";
    request.context.path = "/v1/chat/completions";
    request.context.first_byte = loop_.now();
    request.message.prompt = "hi";
    return service_->generate(std::move(request), delivery);
  }

  hearth::testing::TempDir directory_;
  AsioEventLoop loop_;
  Config config_;
  std::unique_ptr<ScriptedProcesses> processes_;
  std::unique_ptr<FrontService> service_;
};

// What came of one request.
struct Heard {
  std::string text;
  int restarts = 0;
  std::optional<Finished> finished;
  std::optional<Refused> refused;
};

Task<void> listen(std::unique_ptr<Reply> reply, Heard& heard) {
  while (!heard.finished && !heard.refused) {
    Event event = co_await reply->next();
    if (auto* delta = std::get_if<Delta>(&event)) heard.text += delta->text;
    if (std::holds_alternative<Restarted>(event)) {
      ++heard.restarts;
      heard.text.clear();
    }
    if (auto* finished = std::get_if<Finished>(&event)) heard.finished = std::move(*finished);
    if (auto* refused = std::get_if<Refused>(&event)) heard.refused = std::move(*refused);
  }
  reply->sent(heard.finished ? 200 : 503);
}

TEST_F(FrontServiceTest, UnknownModelIsNotFound) {
  open_with({well_behaved});
  Heard heard;
  std::unique_ptr<Reply> reply = ask(Delivery::kWhole, "nobody");
  run(listen(std::move(reply), heard));
  ASSERT_TRUE(heard.refused);
  EXPECT_EQ(heard.refused->error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(heard.refused->error.field(), "model");
}

// A worker that dies in the middle of its first answer.
bool dies_after_a_delta(BlockingChannel& channel, const Frame& frame) {
  if (frame.type != FrameType::kGenerate) return well_behaved(channel, frame);
  wire::StartedMessage started;
  started.prompt_tokens = 3;
  answer(channel, FrameType::kStarted, frame.request, wire::encode(started));
  wire::DeltaMessage delta;
  delta.text = "Hel";
  answer(channel, FrameType::kDelta, frame.request, wire::encode(delta));
  return false;
}

bool dies_at_once(BlockingChannel& channel, const Frame& frame) {
  return frame.type != FrameType::kGenerate && well_behaved(channel, frame);
}

Task<void> ask_and_listen(FrontService& service, GenerateRequest request, Delivery delivery,
                          Heard& heard) {
  co_await listen(service.generate(std::move(request), delivery), heard);
}

GenerateRequest request_at(TimePoint now) {
  GenerateRequest request;
  request.context.model = "tiny";
  request.context.first_byte = now;
  request.message.prompt = "hi";
  return request;
}

Task<void> ask_twice(EventLoop& loop, FrontService& service, Heard& first, Heard& second) {
  co_await ask_and_listen(service, request_at(loop.now()), Delivery::kStreamed, first);
  co_await ask_and_listen(service, request_at(loop.now()), Delivery::kStreamed, second);
}

TEST_F(FrontServiceTest, AnswersAndSaysWhatWasCold) {
  open_with({well_behaved});
  Heard cold, warm;
  run(ask_twice(loop_, *service_, cold, warm));
  ASSERT_TRUE(cold.finished);
  EXPECT_EQ(cold.text, "Hello world");
  EXPECT_EQ(cold.finished->report.response_class, ResponseClass::kLoadCold);
  ASSERT_TRUE(cold.finished->report.verdict);
  EXPECT_EQ(cold.finished->report.verdict->code, VerdictCode::kWeightsFirstUse);
  ASSERT_TRUE(warm.finished);
  EXPECT_EQ(warm.finished->report.response_class, ResponseClass::kWarm);
  EXPECT_FALSE(warm.finished->report.verdict);
}

TEST_F(FrontServiceTest, AWholeReplyIsAskedForAgain) {
  open_with({dies_after_a_delta, well_behaved});
  Heard heard;
  run(ask_and_listen(*service_, request_at(loop_.now()), Delivery::kWhole, heard));
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(heard.restarts, 1);
  EXPECT_EQ(heard.text, "Hello world");
  EXPECT_EQ(processes_->spawned(), 2);
}

TEST_F(FrontServiceTest, AStreamThatHasBegunIsNotRepeated) {
  open_with({dies_after_a_delta, well_behaved});
  Heard heard;
  run(ask_and_listen(*service_, request_at(loop_.now()), Delivery::kStreamed, heard));
  ASSERT_TRUE(heard.refused);
  EXPECT_EQ(heard.refused->error.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(heard.text, "Hel");
}

TEST_F(FrontServiceTest, AStreamThatHasNotBegunIs) {
  open_with({dies_at_once, well_behaved});
  Heard heard;
  run(ask_and_listen(*service_, request_at(loop_.now()), Delivery::kStreamed, heard));
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(heard.text, "Hello world");
  EXPECT_EQ(heard.finished->report.verdict->code, VerdictCode::kWeightsWorkerDied);
}

TEST_F(FrontServiceTest, TwoDeathsAreToldToTheClient) {
  open_with({dies_at_once});
  Heard heard;
  run(ask_and_listen(*service_, request_at(loop_.now()), Delivery::kStreamed, heard));
  ASSERT_TRUE(heard.refused);
  EXPECT_EQ(heard.refused->error.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(processes_->spawned(), 2);
}

// Answers only once it was told to cancel.
bool waits_for_cancel(BlockingChannel& channel, const Frame& frame) {
  if (frame.type == FrameType::kGenerate) return true;
  if (frame.type != FrameType::kCancel) return well_behaved(channel, frame);
  wire::DoneMessage done;
  done.reason = "cancelled";
  answer(channel, FrameType::kDone, frame.request, wire::encode(done));
  return true;
}

Task<void> drop_one(EventLoop& loop, FrontService& service) {
  std::unique_ptr<Reply> reply = service.generate(request_at(loop.now()), Delivery::kStreamed);
  // Wait until it is in the worker's hands, as its client would before it hangs up.
  for (;;) {
    Result<ModelStatus> status = service.model("tiny");
    if (status && status->active == 1 && status->layers[2].level == "resident") break;
    co_await loop.sleep(1ms);
  }
  reply.reset();
  while (service.model("tiny")->active > 0) co_await loop.sleep(1ms);
}

TEST_F(FrontServiceTest, ADroppedReplyFreesItsPlaceAndIsWrittenDown) {
  open_with({waits_for_cancel});
  run(drop_one(loop_, *service_));
  EXPECT_NE(service_->metrics().text().find("hearth_requests_cancelled_total"), std::string::npos);
}

// The last ones are refused while the first is being answered, which ends when they have been.
Task<void> refuse_beyond_queue(EventLoop& loop, FrontService& service, std::promise<void>& go,
                               std::vector<Heard>& heard) {
  std::vector<std::unique_ptr<Reply>> replies;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    replies.push_back(service.generate(request_at(loop.now()), Delivery::kWhole));
  }
  for (std::size_t i = heard.size(); i-- > 0;) {
    if (i == 2) go.set_value();
    co_await listen(std::move(replies[i]), heard[i]);
  }
}

// What is admitted ends well, the rest is told when to come back.
TEST_F(FrontServiceTest, AFullQueueSaysWhenToComeBack) {
  config_.parallel = 1;
  config_.queue = 2;
  std::promise<void> go;
  open_with({[gone = go.get_future().share()](BlockingChannel& channel, const Frame& frame) {
    if (frame.type == FrameType::kGenerate) gone.wait();
    return well_behaved(channel, frame);
  }});
  std::vector<Heard> heard(10);
  run(refuse_beyond_queue(loop_, *service_, go, heard));
  for (std::size_t i = 0; i < heard.size(); ++i) {
    if (i < 3) {
      EXPECT_TRUE(heard[i].finished) << i;
      continue;
    }
    ASSERT_TRUE(heard[i].refused) << i;
    EXPECT_EQ(heard[i].refused->error.code(), ErrorCode::kBusy);
    EXPECT_GE(heard[i].refused->retry_after_s.value_or(0), 1);
  }
}

Task<void> history_of(FrontService& service, EventLoop& loop, std::string& last) {
  Heard heard;
  co_await ask_and_listen(service, request_at(loop.now()), Delivery::kWhole, heard);
  std::string id = "last";
  Result<std::string> entry = co_await service.history_entry(std::move(id));
  EXPECT_TRUE(entry) << entry.error().message();
  if (entry) last = *entry;
}

TEST_F(FrontServiceTest, TheLastRequestIsInTheHistory) {
  open_with({well_behaved});
  std::string last;
  run(history_of(*service_, loop_, last));
  EXPECT_NE(last.find("\"class\":\"load-cold\""), std::string::npos) << last;
}

Task<void> levels_through(FrontService& service, std::vector<std::string>& levels) {
  const auto note = [&levels](const Result<ModelStatus>& status) {
    levels.push_back(status ? status->layers[2].level : status.error().message());
  };
  std::string name = "tiny";
  std::string layer = "weights";
  note(co_await service.warm(name, layer));
  note(co_await service.unload(name));
  note(co_await service.warm(name, layer));
  note(co_await service.cool(name, layer));
}

TEST_F(FrontServiceTest, LoadsAndUnloadsByHand) {
  open_with({well_behaved});
  std::vector<std::string> levels;
  run(levels_through(*service_, levels));
  EXPECT_EQ(levels, (std::vector<std::string>{"resident", "hollow", "resident", "hollow"}));
}

Task<void> remove_and_ask(EventLoop& loop, FrontService& service, Heard& heard) {
  std::string name = "tiny";
  Result<> removed = co_await service.remove_model(std::move(name));
  EXPECT_TRUE(removed) << removed.error().message();
  co_await ask_and_listen(service, request_at(loop.now()), Delivery::kWhole, heard);
}

TEST_F(FrontServiceTest, ARemovedNameIsGoneAndItsFileIsNot) {
  open_with({well_behaved});
  Heard heard;
  run(remove_and_ask(loop_, *service_, heard));
  ASSERT_TRUE(heard.refused);
  EXPECT_EQ(heard.refused->error.code(), ErrorCode::kNotFound);
  EXPECT_TRUE(std::ifstream{directory_.path() + "/tiny.gguf"}.good());
}

}  // namespace
}  // namespace hearth::front
