// SPDX-License-Identifier: Apache-2.0
//
// The /api routes from request to answer.
#include "api/ollama/ollama.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api::ollama {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeService;

class Ollama : public ::testing::Test {
 protected:
  void start(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }
  void give(front::Event event) {
    service.record.events.push(std::move(event));
    loop.run_ready();
  }
  // Sends `body` and takes an answer that comes at once.
  FakeExchange ask(std::string method, std::string path, std::string body = "") {
    FakeExchange exchange{std::move(method), std::move(path), std::move(body)};
    start(exchange);
    EXPECT_TRUE(exchange.ended) << exchange.body;
    return exchange;
  }
  static front::Finished finished() {
    front::Finished event;
    event.reason = "stop";
    event.generated = 2;
    event.report.request_id = "r1";
    return event;
  }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

std::vector<json::value> lines_of(const std::string& body) {
  std::vector<json::value> lines;
  std::istringstream in{body};
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

FakeExchange chat(const std::string& extra = "") {
  return FakeExchange{"POST", "/api/chat",
                      R"({"model":"smol","messages":[{"role":"user","content":"hi"}])" +
                          (extra.empty() ? "" : "," + extra) + "}"};
}

TEST_F(Ollama, StreamsByDefault) {
  auto exchange = chat(R"("keep_alive":"5m")");
  start(exchange);
  EXPECT_EQ(service.generated.context.api, "ollama");
  EXPECT_EQ(service.generated.context.keep_alive, front::KeepAlive::after(std::chrono::minutes{5}));
  EXPECT_EQ(service.delivered, front::Delivery::kStreamed);
  give(front::Started{});
  give(front::Delta{"Hello", "", {}});
  EXPECT_EQ(exchange.header("Content-Type"), "application/x-ndjson");
  give(finished());
  const auto lines = lines_of(exchange.body);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("message").at("content"), "Hello");
  EXPECT_EQ(lines[0].at("model"), "smol");
  EXPECT_EQ(lines[1].at("done"), true);
  EXPECT_TRUE(exchange.ended);
}

TEST_F(Ollama, AnswersWholeWhenAsked) {
  auto exchange = chat(R"("stream":false)");
  start(exchange);
  give(front::Delta{"Hello", "", {}});
  give(finished());
  EXPECT_EQ(exchange.status, 200);
  EXPECT_EQ(exchange.header("Content-Type"), "application/json; charset=utf-8");
  EXPECT_EQ(json::parse(exchange.body).at("message").at("content"), "Hello");
}

TEST_F(Ollama, AnErrorInAStreamIsALine) {
  auto exchange = chat();
  start(exchange);
  give(front::Delta{"He", "", {}});
  give(front::Refused{Error{ErrorCode::kUnavailable, "the worker died"}, {}, {}, {}});
  EXPECT_EQ(lines_of(exchange.body).back(), json::parse(R"({"error":"the worker died"})"));
  EXPECT_TRUE(exchange.ended);
}

TEST_F(Ollama, ProgressComesAsLinesToThoseWhoAsk) {
  auto exchange = chat(R"("return_progress":true)");
  start(exchange);
  give(front::Progress{"load", 0.5, 1, 2});
  const auto lines = lines_of(exchange.body);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("hearth_progress").at("fraction"), 0.5);
  EXPECT_EQ(lines[0].at("message").at("content"), "");
  give(finished());
  EXPECT_TRUE(exchange.ended);
}

TEST_F(Ollama, BadRequestsNameTheField) {
  const auto exchange = ask("POST", "/api/generate", R"({"model":"smol","prompt":5})");
  EXPECT_EQ(exchange.status, 400);
  EXPECT_EQ(json::parse(exchange.body).at("field"), "prompt");
  EXPECT_TRUE(json::parse(exchange.body).at("error").is_string());
}

TEST_F(Ollama, NoPromptLoads) {
  FakeExchange exchange{"POST", "/api/generate", R"({"model":"smol","keep_alive":-1})"};
  start(exchange);
  EXPECT_EQ(service.called, "load smol");
  EXPECT_EQ(service.loaded.context.keep_alive, front::KeepAlive::until_wanted());
  give(front::Progress{"load", 0.5, 1, 2});
  give(finished());
  EXPECT_EQ(exchange.header("Content-Type"), "application/json; charset=utf-8");
  const json::value answer = json::parse(exchange.body);
  EXPECT_EQ(answer.at("done_reason"), "load");
  EXPECT_EQ(answer.at("load_duration"), 0);
  EXPECT_EQ(service.record.sent, 200);
}

TEST_F(Ollama, ALoadTellsOfItsProgress) {
  FakeExchange exchange{"POST", "/api/chat", R"({"model":"smol","return_progress":true})"};
  start(exchange);
  give(front::Progress{"load", 0.5, 1, 2});
  give(finished());
  EXPECT_EQ(exchange.header("Content-Type"), "application/x-ndjson");
  const auto lines = lines_of(exchange.body);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("done"), false);
  EXPECT_EQ(lines[1].at("done_reason"), "load");
  EXPECT_TRUE(exchange.ended);
}

TEST_F(Ollama, ALoadGoesOnWithoutItsClient) {
  for (const char* more : {"", R"(,"return_progress":true)"}) {
    service.record.sent = 0;
    FakeExchange exchange{"POST", "/api/chat", std::string{R"({"model":"smol")"} + more + "}"};
    start(exchange);
    give(front::Progress{"load", 0.5, 1, 2});
    exchange.leave();
    give(front::Progress{"load", 0.7, 1, 2});
    EXPECT_FALSE(service.record.cancelled);
    EXPECT_FALSE(service.record.dropped);
    give(finished());
    EXPECT_EQ(service.record.sent, 200);
    service.record.dropped = false;
  }
}

TEST_F(Ollama, ARefusedLoadHasItsStatus) {
  FakeExchange exchange{"POST", "/api/generate", R"({"model":"smol"})"};
  start(exchange);
  give(front::Refused{Error{ErrorCode::kUnavailable, "no"}, 3, 2500.0, {}});
  EXPECT_EQ(exchange.status, 503);
  EXPECT_EQ(exchange.header("Retry-After"), "3");
  EXPECT_EQ(json::parse(exchange.body).at("eta_ms"), 2500);
}

TEST_F(Ollama, NoPromptAndNoTimeUnloadsWithoutLoading) {
  for (const char* path : {"/api/generate", "/api/chat", "/api/embed", "/api/embeddings"}) {
    service.called.clear();
    const auto exchange = ask("POST", path, R"({"model":"smol","keep_alive":0})");
    EXPECT_EQ(exchange.status, 200) << path;
    EXPECT_EQ(service.called, "release smol") << path;
  }
}

TEST_F(Ollama, EmbedsTextsAndNothing) {
  FakeExchange exchange{"POST", "/api/embed",
                        R"({"model":"smol","input":["a","b"],"dimensions":1})"};
  start(exchange);
  EXPECT_EQ(service.embedded.message.inputs.size(), 2U);
  EXPECT_TRUE(service.embedded.message.truncate);
  give(front::Embedded{{{0.6F, 0.8F}, {-2, 0}}});
  give(finished());
  EXPECT_EQ(json::parse(exchange.body).at("embeddings"), json::parse("[[1],[-1]]"));

  FakeExchange empty{"POST", "/api/embed", R"({"model":"smol","input":[]})"};
  start(empty);
  EXPECT_EQ(service.called, "load smol");
  give(finished());
  EXPECT_EQ(json::parse(empty.body).at("embeddings"), json::array{});
}

TEST_F(Ollama, OldEmbeddings) {
  FakeExchange exchange{"POST", "/api/embeddings", R"({"model":"smol","prompt":"a"})"};
  start(exchange);
  give(front::Embedded{{{0.5F, 1}}});
  give(finished());
  EXPECT_EQ(json::parse(exchange.body).at("embedding"), json::parse("[0.5,1]"));
}

TEST_F(Ollama, Lists) {
  const auto tags = ask("GET", "/api/tags");
  EXPECT_EQ(json::parse(tags.body).at("models").at(0).at("name"), "smol:latest");
  EXPECT_EQ(tags.body.find("/secret"), std::string::npos);
  const auto running = ask("GET", "/api/ps");
  EXPECT_EQ(json::parse(running.body).at("models").as_array().size(), 1U);
  service.catalogue.front().layers.front().level = "none";
  EXPECT_EQ(ask("GET", "/api/ps").body, R"({"models":[]})");
  EXPECT_EQ(ask("HEAD", "/api/tags").status, 200);
  EXPECT_EQ(ask("HEAD", "/api/version").status, 200);
}

TEST_F(Ollama, Version) {
  const json::value version = json::parse(ask("GET", "/api/version").body);
  EXPECT_EQ(version.at("version"), json::value(kOllamaApiLevel));
  EXPECT_TRUE(version.at("hearth").is_string());
}

TEST_F(Ollama, Show) {
  service.model_details.chat_template = "{{ x }}";
  const auto shown = ask("POST", "/api/show", R"({"name":"smol"})");
  EXPECT_EQ(json::parse(shown.body).at("template"), "{{ x }}");
  EXPECT_EQ(ask("POST", "/api/show", R"({"model":"nobody"})").status, 404);
  EXPECT_EQ(ask("POST", "/api/show", "{}").status, 400);
}

TEST_F(Ollama, ShowOfAModelWhoseFileIsNotHere) {
  service.details_error = Error{ErrorCode::kNotFound, "open /secret/blob: not there"};
  front::ModelStatus& model = service.catalogue.front();
  model.status = "absent";
  model.paths = {"/secret/blob"};
  model.settings.system = "arr";
  const auto shown = ask("POST", "/api/show", R"({"model":"smol"})");
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(json::parse(shown.body).at("system"), "arr");
  const std::string modelfile{json::parse(shown.body).at("modelfile").as_string()};
  EXPECT_NE(modelfile.find("FROM smol:latest"), std::string::npos) << modelfile;
  service.details_error = Error{ErrorCode::kCorrupt, "not a GGUF file"};
  EXPECT_EQ(ask("POST", "/api/show", R"({"model":"smol"})").status, 422);
}

TEST_F(Ollama, CopyAndDelete) {
  const auto copied = ask("POST", "/api/copy", R"({"source":"smol","destination":"b"})");
  EXPECT_EQ(copied.status, 200);
  EXPECT_EQ(copied.body, "");
  EXPECT_EQ(service.called, "copy smol b");
  const auto removed = ask("DELETE", "/api/delete", R"({"model":"smol"})");
  EXPECT_EQ(removed.status, 200);
  EXPECT_EQ(removed.body, "");
  EXPECT_EQ(service.called, "remove smol");
  EXPECT_EQ(ask("DELETE", "/api/delete", R"({"name":"nobody"})").status, 404);
  EXPECT_EQ(ask("POST", "/api/copy", R"({"source":"nobody","destination":"b"})").status, 404);
}

}  // namespace
}  // namespace hearth::api::ollama
