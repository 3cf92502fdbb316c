// SPDX-License-Identifier: Apache-2.0
#include "api/api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>

#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"
#include "timeline/response_class.h"

namespace hearth::api {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeService;

class Api : public ::testing::Test {
 protected:
  // Starts the handler and runs it as far as it gets.
  void start(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }
  void give(front::Event event) {
    service.record.events.push(std::move(event));
    loop.run_ready();
  }
  void give_text(std::string text) { give(front::Delta{std::move(text), "", {}}); }

  static front::Started started() {
    front::Started event;
    event.report.response_class = ResponseClass::kLoadCold;
    return event;
  }
  static front::Finished finished() {
    front::Finished event;
    event.reason = "stop";
    event.prompt_tokens = 10;
    event.cached_tokens = 4;
    event.generated = 2;
    event.report.response_class = ResponseClass::kWarm;
    return event;
  }
  static front::Refused refused(ErrorCode code) {
    return front::Refused{Error{code, "no"}, std::nullopt, std::nullopt, {}};
  }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

FakeExchange chat(std::string extra = "") {
  return FakeExchange{"POST", "/v1/chat/completions",
                      R"({"model":"smol","messages":[{"role":"user","content":"hi"}])" +
                          (extra.empty() ? "" : "," + extra) + "}"};
}

std::vector<std::string> events_of(const std::string& body) {
  std::vector<std::string> events;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = body.find("\n\n", at);
    events.push_back(body.substr(at, end - at));
    at = end == std::string::npos ? body.size() : end + 2;
  }
  return events;
}

json::value data_of(const std::string& event) { return json::parse(event.substr(6)); }

TEST_F(Api, WholeReply) {
  auto exchange = chat();
  exchange.edit().headers.push_back({"Prefer", "wait=3"});
  start(exchange);
  EXPECT_EQ(service.generated.context.model, "smol");
  EXPECT_EQ(service.generated.context.path, "/v1/chat/completions");
  EXPECT_EQ(service.generated.context.wait_limit, Duration{std::chrono::seconds{3}});
  EXPECT_EQ(service.delivered, front::Delivery::kWhole);
  give(started());
  give_text("Hel");
  give_text("lo");
  EXPECT_EQ(exchange.answers, 0);
  give(finished());
  EXPECT_EQ(exchange.status, 200);
  const json::value body = json::parse(exchange.body);
  EXPECT_EQ(body.at("choices").at(0).at("message").at("content"), "Hello");
  EXPECT_EQ(body.at("model"), "smol:latest");
  EXPECT_EQ(body.at("created"), 1'700'000'000);
  EXPECT_EQ(body.at("usage").at("total_tokens"), 12);
  EXPECT_EQ(exchange.header("X-Request-Id"), "r1");
  EXPECT_EQ(exchange.header("X-Hearth-Class"), "warm");
  EXPECT_EQ(service.record.sent, 200);
  EXPECT_TRUE(service.record.dropped);
  EXPECT_FALSE(exchange.watched());
}

TEST_F(Api, AWholeReplyForgetsWhatCameBeforeARestart) {
  auto exchange = chat();
  start(exchange);
  give_text("lost");
  give(front::Restarted{});
  give_text("kept");
  give(finished());
  EXPECT_EQ(json::parse(exchange.body).at("choices").at(0).at("message").at("content"), "kept");
}

TEST_F(Api, StreamedReply) {
  auto exchange = chat(R"("stream":true)");
  start(exchange);
  give(front::Progress{"load", 0.5, 1, 2});
  give(started());
  EXPECT_EQ(exchange.answers, 0) << "headers wait for the first delta";
  give_text("Hel");
  EXPECT_EQ(exchange.answers, 1);
  EXPECT_EQ(exchange.writes, 1) << "the role and the first text go out together";
  EXPECT_EQ(exchange.header("X-Hearth-Class"), "load-cold");
  EXPECT_EQ(exchange.header("X-Hearth-Cold-Layer"), "weights");
  give_text("lo");
  give(finished());
  const auto events = events_of(exchange.body);
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(data_of(events[0]).at("choices").at(0).at("delta").at("role"), "assistant");
  EXPECT_EQ(data_of(events[1]).at("choices").at(0).at("delta").at("content"), "Hel");
  EXPECT_EQ(data_of(events[3]).at("choices").at(0).at("finish_reason"), "stop");
  EXPECT_EQ(data_of(events[3]).at("hearth").at("class"), "warm");
  EXPECT_EQ(events[4], "data: [DONE]");
  EXPECT_TRUE(exchange.ended);
  EXPECT_EQ(service.record.sent, 200);
}

TEST_F(Api, UsageComesLastAndOnlyWhenAsked) {
  auto asked = chat(R"("stream":true,"stream_options":{"include_usage":true})");
  start(asked);
  give_text("x");
  give(finished());
  const auto events = events_of(asked.body);
  ASSERT_EQ(events.size(), 5U);
  EXPECT_TRUE(data_of(events[3]).at("choices").as_array().empty());
  EXPECT_EQ(data_of(events[3]).at("usage").at("prompt_tokens"), 10);
  EXPECT_EQ(data_of(events[3]).at("usage").at("prompt_tokens_details").at("cached_tokens"), 4);

  auto refused_it = chat(R"("stream":true,"stream_options":{"include_usage":false})");
  start(refused_it);
  give_text("x");
  give(finished());
  EXPECT_EQ(refused_it.body.find("\"usage\""), std::string::npos);
}

TEST_F(Api, AnEmptyStreamIsStillComplete) {
  auto exchange = chat(R"("stream":true,"max_tokens":0)");
  start(exchange);
  give(finished());
  EXPECT_EQ(events_of(exchange.body).size(), 3U);
  EXPECT_EQ(exchange.header("X-Hearth-Class"), "warm");
}

TEST_F(Api, ProgressIsAComment) {
  auto exchange = chat(R"("stream":true,"return_progress":true)");
  start(exchange);
  give(front::Progress{"read", 0.25, 10, 40});
  EXPECT_EQ(exchange.body,
            ": progress {\"stage\":\"read\",\"fraction\":0.25,\"done_bytes\":10,"
            "\"total_bytes\":40}\n\n");
  EXPECT_EQ(exchange.header("X-Request-Id"), "r1");
  EXPECT_EQ(exchange.header("X-Hearth-Class"), "") << "not known yet";
  give(front::Restarted{});
  give(started());
  give_text("x");
  give(finished());
  EXPECT_EQ(exchange.answers, 1);
  EXPECT_TRUE(exchange.body.ends_with("data: [DONE]\n\n"));
}

TEST_F(Api, AFailureBeforeTheFirstByteHasItsStatus) {
  auto exchange = chat(R"("stream":true)");
  start(exchange);
  give(started());
  give(front::Restarted{});
  front::Refused busy = refused(ErrorCode::kBusy);
  busy.retry_after_s = 2;
  give(std::move(busy));
  EXPECT_EQ(exchange.status, 503);
  EXPECT_EQ(exchange.header("Retry-After"), "2");
  EXPECT_EQ(exchange.header("X-Request-Id"), "r1");
  EXPECT_EQ(json::parse(exchange.body).at("error").at("type"), "unavailable_error");
  EXPECT_EQ(service.record.sent, 503);
}

TEST_F(Api, AFailureInTheMiddleIsTheLastEvent) {
  auto exchange = chat(R"("stream":true)");
  start(exchange);
  give_text("x");
  give(refused(ErrorCode::kUnavailable));
  const auto events = events_of(exchange.body);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(data_of(events[2]).at("error").at("code"), 503);
  EXPECT_EQ(exchange.body.find("[DONE]"), std::string::npos);
  EXPECT_TRUE(exchange.ended);
  EXPECT_EQ(service.record.sent, 200);
}

TEST_F(Api, AClientThatLeavesCancels) {
  for (const char* extra : {R"("stream":true)", R"("stream":false)"}) {
    auto exchange = chat(extra);
    start(exchange);
    give_text("x");
    exchange.leave();
    loop.run_ready();
    EXPECT_TRUE(service.record.cancelled) << extra;
    EXPECT_EQ(service.record.sent, 499) << extra;
    EXPECT_TRUE(service.record.dropped) << extra;
    service.record.cancelled = service.record.dropped = false;
    service.record.sent.reset();
  }
}

TEST_F(Api, AClientThatHadLeftBeforeCancels) {
  auto exchange = chat();
  exchange.leave();
  start(exchange);
  EXPECT_TRUE(service.record.cancelled);
  EXPECT_EQ(exchange.answers, 0);
}

TEST_F(Api, AStoppingServerTellsClientsThatAreStillThere) {
  auto exchange = chat();
  start(exchange);
  give(refused(ErrorCode::kCancelled));
  EXPECT_EQ(exchange.status, 503);
}

TEST_F(Api, TooLongHasBothCounts) {
  auto exchange = chat();
  start(exchange);
  give(front::Refused{Error{ErrorCode::kTooLong, "too long"}.with_counts({99, 64}), {}, {}, {}});
  EXPECT_EQ(exchange.status, 400);
  const json::value error = json::parse(exchange.body).at("error");
  EXPECT_EQ(error.at("type"), "exceed_context_size_error");
  EXPECT_EQ(error.at("n_prompt_tokens"), 99);
  EXPECT_EQ(error.at("n_ctx"), 64);
}

TEST_F(Api, ABadBodyNeverReachesTheFront) {
  FakeExchange exchange{"POST", "/v1/chat/completions", R"({"model":"smol","messages":[]})"};
  start(exchange);
  EXPECT_EQ(exchange.status, 400);
  EXPECT_EQ(json::parse(exchange.body).at("error").at("param"), "messages");
  EXPECT_EQ(service.generated.context.model, "");
}

TEST_F(Api, Completions) {
  FakeExchange exchange{"POST", "/v1/completions",
                        R"({"model":"smol","prompt":"a","stream":true})"};
  start(exchange);
  EXPECT_EQ(service.generated.message.prompt, "a");
  give_text("b");
  give(finished());
  const auto events = events_of(exchange.body);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(data_of(events[0]).at("choices").at(0).at("text"), "b");
}

TEST_F(Api, Embeddings) {
  FakeExchange exchange{"POST", "/v1/embeddings",
                        R"({"model":"smol","input":["a","b"],"dimensions":2})"};
  start(exchange);
  EXPECT_EQ(service.embedded.message.inputs, (std::vector<std::string>{"a", "b"}));
  front::Embedded vectors;
  vectors.vectors = {{0.5F, 1.0F}, {1.0F, 0.0F}};
  give(std::move(vectors));
  give(finished());
  EXPECT_EQ(exchange.status, 200);
  EXPECT_EQ(json::parse(exchange.body).at("data").at(1).at("embedding"), json::parse("[1,0]"));
  EXPECT_EQ(service.record.sent, 200);
}

TEST_F(Api, EmbeddingsAreShortenedToLengthOne) {
  FakeExchange exchange{"POST", "/v1/embeddings", R"({"model":"smol","input":"a","dimensions":1})"};
  start(exchange);
  front::Embedded vectors;
  vectors.vectors = {{0.5F, 1.0F}};
  give(std::move(vectors));
  give(finished());
  EXPECT_EQ(json::parse(exchange.body).at("data").at(0).at("embedding"), json::parse("[1]"));
}

TEST_F(Api, EmbeddingsAreNotLengthened) {
  FakeExchange exchange{"POST", "/v1/embeddings", R"({"model":"smol","input":"a","dimensions":3})"};
  start(exchange);
  EXPECT_EQ(exchange.status, 400);
  EXPECT_EQ(json::parse(exchange.body).at("error").at("param"), "dimensions");
}

TEST_F(Api, RerankingIsRefusedByTheModelsCapability) {
  FakeExchange exchange{"POST", "/v1/rerank", R"({"model":"smol","query":"q","documents":["a"]})"};
  start(exchange);
  EXPECT_EQ(exchange.status, 501);
  EXPECT_EQ(json::parse(exchange.body).at("error").at("type"), "not_supported_error");
}

TEST_F(Api, ModelListHidesPaths) {
  FakeExchange list{"GET", "/v1/models"};
  start(list);
  EXPECT_EQ(json::parse(list.body).at("data").at(0).at("id"), "smol:latest");
  EXPECT_EQ(list.body.find("/secret"), std::string::npos);
  FakeExchange one{"GET", "/v1/models/a/smol"};
  start(one);
  EXPECT_EQ(json::parse(one.body).at("hearth").at("layers").at("weights").at("level"), "resident");
  FakeExchange none{"GET", "/v1/models/none"};
  start(none);
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(json::parse(none.body).at("error").at("type"), "not_found_error");
}

struct PlainCase {
  const char* method;
  const char* path;
  int status;
  const char* part;  // of the body
};

class Plain : public Api, public ::testing::WithParamInterface<PlainCase> {};

TEST_P(Plain, Answers) {
  FakeExchange exchange{GetParam().method, GetParam().path};
  start(exchange);
  EXPECT_EQ(exchange.status, GetParam().status);
  EXPECT_NE(exchange.body.find(GetParam().part), std::string::npos) << exchange.body;
  EXPECT_EQ(exchange.header("Access-Control-Allow-Origin"), "");
}

INSTANTIATE_TEST_SUITE_P(Routes, Plain,
                         ::testing::Values(PlainCase{"GET", "/", 200, "Hearth is running"},
                                           PlainCase{"HEAD", "/", 200, ""},
                                           PlainCase{"GET", "/health", 200, R"({"status":"ok"})"},
                                           PlainCase{"GET", "/metrics", 200, "hearth_"},
                                           PlainCase{"GET", "/v1/nothing", 404, R"("param":null)"},
                                           PlainCase{"GET", "/nothing", 404, R"("field":null)"},
                                           PlainCase{"OPTIONS", "/v1/models", 405, "OPTIONS"},
                                           PlainCase{"GET", "/v1/chat/completions", 405, "GET"}));

TEST_F(Api, WrongMethodSaysWhatIsAllowed) {
  FakeExchange exchange{"PUT", "/v1/models"};
  start(exchange);
  EXPECT_EQ(exchange.header("Allow"), "GET, HEAD");
  EXPECT_EQ(json::parse(exchange.body).at("error").at("code"), 405);
}

TEST_F(Api, ForeignPagesAreRefused) {
  FakeExchange exchange{"GET", "/v1/models"};
  exchange.edit().headers.push_back({"Origin", "https://evil.example"});
  start(exchange);
  EXPECT_EQ(exchange.status, 403);
  EXPECT_EQ(json::parse(exchange.body).at("error").at("type"), "permission_error");
  EXPECT_EQ(exchange.header("Access-Control-Allow-Origin"), "");
}

TEST_F(Api, AnExceptionIsA500WithoutDetails) {
  service.throws = true;
  FakeExchange exchange{"GET", "/v1/models/smol"};
  start(exchange);
  EXPECT_EQ(exchange.status, 500);
  EXPECT_EQ(json::parse(exchange.body).at("error").at("type"), "server_error");
  EXPECT_EQ(exchange.body.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace hearth::api
