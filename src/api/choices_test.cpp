// SPDX-License-Identifier: Apache-2.0
#include "api/choices.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <deque>
#include <vector>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeReply;
using testing::ReplyRecord;

// Keeps what it was asked for, and one record for each reply.
class ManyService : public testing::FakeService {
 public:
  explicit ManyService(SimEventLoop& loop) : FakeService{loop}, loop_{loop} {}

  std::unique_ptr<front::Reply> generate(front::GenerateRequest request, front::Delivery) override {
    requests.push_back(std::move(request));
    return std::make_unique<FakeReply>(records.emplace_back(loop_));
  }

  std::vector<front::GenerateRequest> requests;
  std::deque<ReplyRecord> records;

 private:
  SimEventLoop& loop_;
};

class Choices : public ::testing::Test {
 protected:
  void start(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }
  template <class Event>
  void give(std::size_t index, Event event) {
    service.records.at(index).events.push(std::move(event));
    loop.run_ready();
  }
  void give_text(std::size_t index, std::string text, double logprob = -1) {
    front::Delta delta{std::move(text), "", {}};
    delta.logprobs = {{{1, delta.text, logprob}, {}}};
    give(index, std::move(delta));
  }
  void finish(std::size_t index, int generated, int cached) {
    front::Finished end;
    end.reason = "stop";
    end.prompt_tokens = 10;
    end.cached_tokens = cached;
    end.generated = generated;
    end.report.response_class = ResponseClass::kWarm;
    give(index, std::move(end));
  }
  void fail(std::size_t index, ErrorCode code) {
    give(index, front::Refused{Error{code, "no"}, std::nullopt, std::nullopt, {}});
  }

  SimEventLoop loop;
  ManyService service{loop};
  ApiOptions options{&loop.clock(), nullptr, &loop};
};

FakeExchange chat(const std::string& extra) {
  return FakeExchange{
      "POST", "/v1/chat/completions",
      R"({"model":"smol","messages":[{"role":"user","content":"hi"}],)" + extra + "}"};
}

FakeExchange completion(const std::string& extra) {
  return FakeExchange{"POST", "/v1/completions", R"({"model":"smol","prompt":"hi",)" + extra + "}"};
}

std::vector<json::value> events_of(const std::string& body) {
  std::vector<json::value> events;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = body.find("\n\n", at);
    const std::string event = body.substr(at, end - at);
    if (event != "data: [DONE]") events.push_back(json::parse(event.substr(6)));
    at = end + 2;
  }
  return events;
}

TEST_F(Choices, AreOneRequestEachWithASeedOfItsOwn) {
  auto exchange = chat(R"("n":3,"seed":7)");
  start(exchange);
  ASSERT_EQ(service.requests.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(service.requests[i].message.sampling.seed, 7 + i);
    EXPECT_EQ(service.requests[i].message.messages, service.requests[0].message.messages);
  }
  for (std::size_t i = 0; i < 3; ++i) finish(i, 1, 0);
}

TEST_F(Choices, WholeTheyStandInTheirOrderAndCountTogether) {
  auto exchange = chat(R"("n":2,"logprobs":true)");
  start(exchange);
  give_text(1, "second");
  finish(1, 3, 9);
  EXPECT_EQ(exchange.answers, 0);
  give_text(0, "first");
  finish(0, 2, 4);
  EXPECT_EQ(exchange.status, 200);
  const json::value body = json::parse(exchange.body);
  const auto& choices = body.at("choices").as_array();
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].at("index"), 0);
  EXPECT_EQ(choices[0].at("message").at("content"), "first");
  EXPECT_EQ(choices[0].at("logprobs").at("content").at(0).at("token"), "first");
  EXPECT_EQ(choices[1].at("index"), 1);
  EXPECT_EQ(choices[1].at("message").at("content"), "second");
  EXPECT_EQ(body.at("usage").at("completion_tokens"), 5);
  EXPECT_EQ(body.at("usage").at("prompt_tokens"), 10) << "the prompt was read once";
  EXPECT_EQ(body.at("usage").at("prompt_tokens_details").at("cached_tokens"), 4);
  EXPECT_EQ(service.records[0].sent, 200);
  EXPECT_EQ(service.records[1].sent, 200);
  EXPECT_FALSE(exchange.watched());
}

TEST_F(Choices, StreamedTheyComeAsTheyAreWritten) {
  auto exchange = chat(R"("n":2,"stream":true,"stream_options":{"include_usage":true})");
  start(exchange);
  give_text(1, "b");
  give_text(0, "a");
  finish(1, 1, 9);
  EXPECT_FALSE(exchange.ended);
  finish(0, 1, 4);
  EXPECT_TRUE(exchange.ended);
  const auto events = events_of(exchange.body);
  std::string order;
  for (const json::value& event : events) {
    for (const json::value& choice : event.at("choices").as_array()) {
      order += std::to_string(choice.at("index").as_int64());
    }
  }
  EXPECT_EQ(order, "110010") << "role and text of each, then the ends";
  EXPECT_EQ(events.back().at("usage").at("completion_tokens"), 2);
  EXPECT_TRUE(exchange.body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(service.records[0].sent, 200);
  EXPECT_EQ(service.records[1].sent, 200);
}

TEST_F(Choices, OfTheBestThoseAreSentThatWereLikeliest) {
  auto exchange = completion(R"("n":1,"best_of":3)");
  start(exchange);
  const double means[] = {-3, -1, -2};
  for (std::size_t i = 0; i < 3; ++i) {
    give_text(i, "text" + std::to_string(i), means[i]);
    finish(i, 1, 0);
  }
  const json::value body = json::parse(exchange.body);
  ASSERT_EQ(body.at("choices").as_array().size(), 1U);
  EXPECT_EQ(body.at("choices").at(0).at("text"), "text1");
  EXPECT_EQ(body.at("choices").at(0).at("index"), 0);
  EXPECT_TRUE(body.at("choices").at(0).at("logprobs").is_null()) << "nobody asked for them";
  EXPECT_EQ(body.at("usage").at("completion_tokens"), 3) << "all were written";
}

TEST_F(Choices, OneThatIsRefusedEndsThemAll) {
  auto exchange = chat(R"("n":3)");
  start(exchange);
  give_text(0, "a");
  fail(1, ErrorCode::kBusy);
  EXPECT_TRUE(service.records[0].cancelled);
  EXPECT_TRUE(service.records[2].cancelled);
  EXPECT_EQ(exchange.status, 503);
  EXPECT_EQ(service.records[1].sent, 503);
  EXPECT_TRUE(service.records[0].dropped);
}

TEST_F(Choices, OneThatFailsInAStreamIsItsLastEvent) {
  auto exchange = chat(R"("n":2,"stream":true)");
  start(exchange);
  give_text(0, "a");
  fail(1, ErrorCode::kUnavailable);
  EXPECT_TRUE(exchange.ended);
  EXPECT_TRUE(events_of(exchange.body).back().as_object().contains("error"));
  EXPECT_EQ(exchange.body.find("[DONE]"), std::string::npos);
}

TEST_F(Choices, AClientThatLeavesCancelsThemAll) {
  for (const char* stream : {"true", "false"}) {
    service.records.clear();
    auto exchange = chat(R"("n":2,"stream":)" + std::string{stream});
    start(exchange);
    give_text(0, "a");
    exchange.leave();
    loop.run_ready();
    for (const ReplyRecord& record : service.records) {
      EXPECT_TRUE(record.cancelled);
      EXPECT_TRUE(record.dropped);
    }
  }
}

}  // namespace
}  // namespace hearth::api
