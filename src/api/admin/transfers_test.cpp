// SPDX-License-Identifier: Apache-2.0
#include "api/transfers.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeService;

class Transfers : public ::testing::Test {
 protected:
  void start(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }
  void give(front::TransferEvent event) {
    service.transfer.events.push(std::move(event));
    loop.run_ready();
  }

  static front::TransferProgress progress() {
    front::TransferProgress event;
    event.stage = "download";
    event.file = "smol.gguf";
    event.digest = "sha256:0123456789abcdef";
    event.done = 30;
    event.total = 90;
    event.all_done = 25;
    event.all_total = 100;
    event.bytes_per_s = 12.5;
    event.eta_ms = 6000;
    return event;
  }
  static front::TransferDone done() {
    front::TransferDone event;
    event.model = "smol:latest";
    event.bytes = 100;
    event.received = 90;
    event.download_ms = 7;
    return event;
  }
  static front::TransferDone verified() {
    front::TransferDone event;
    event.bytes = 100;
    event.verified.push_back({"smol:latest", "rotten", "look at /secret/smol.gguf", "ab", 100, 4});
    return event;
  }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

constexpr const char* kProgress =
    R"({"progress":{"stage":"download","fraction":0.25,"done_bytes":25,"total_bytes":100,)"
    R"("bytes_per_s":12.5,"eta_ms":6000,"file":{"name":"smol.gguf",)"
    R"("digest":"sha256:0123456789abcdef","done_bytes":30,"total_bytes":90}}})";

TEST_F(Transfers, PullTellsLineByLine) {
  FakeExchange exchange{"POST", "/api/hearth/pull",
                        R"({"source":"hf.co/org/smol","name":"smol","insecure":true})"};
  start(exchange);
  EXPECT_EQ(service.called, "pull hf.co/org/smol smol");
  EXPECT_TRUE(service.pulled.insecure);
  EXPECT_EQ(exchange.answers, 0) << "what goes wrong now has a status of its own";
  give(progress());
  EXPECT_EQ(exchange.header("Content-Type"), "application/x-ndjson");
  EXPECT_EQ(exchange.body, std::string{kProgress} + "\n");
  exchange.body.clear();
  give(done());
  EXPECT_TRUE(exchange.ended);
  const json::value last = json::parse(exchange.body);
  EXPECT_EQ(last.at("done"),
            json::parse(R"({"name":"smol:latest","bytes":100,"received_bytes":90,"was_there":false,
                            "metadata_ms":0,"download_ms":7,"verify_ms":0})"));
  EXPECT_EQ(last.at("model").at("name"), "smol:latest");
  EXPECT_TRUE(last.at("model").as_object().contains("settings"));
  EXPECT_TRUE(service.transfer.dropped);
  EXPECT_FALSE(service.transfer.detached);
}

TEST_F(Transfers, TheSameAsEvents) {
  FakeExchange exchange{"POST", "/api/hearth/pull", R"({"source":"x"})"};
  exchange.edit().headers.push_back({"Accept", "text/event-stream"});
  start(exchange);
  give(progress());
  EXPECT_EQ(exchange.header("Content-Type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(exchange.body, "event: progress\ndata: " + std::string{kProgress} + "\n\n");
  give(Error{ErrorCode::kCorrupt, "not what was promised"});
  EXPECT_NE(exchange.body.find("event: error\ndata: {\"error\":{\"message\":\"not what"),
            std::string::npos);
  EXPECT_TRUE(exchange.ended);
}

struct EarlyCase {
  const char* name;
  ErrorCode code;
  int status;
};
class EarlyError : public Transfers, public ::testing::WithParamInterface<EarlyCase> {};

TEST_P(EarlyError, HasAStatus) {
  for (const char* path : {"/api/hearth/pull", "/api/hearth/verify"}) {
    FakeExchange exchange{"POST", path, R"({"source":"x"})"};
    start(exchange);
    give(Error{GetParam().code, "no"});
    EXPECT_EQ(exchange.status, GetParam().status);
  }
}

INSTANTIATE_TEST_SUITE_P(Codes, EarlyError,
                         ::testing::Values(EarlyCase{"Invalid", ErrorCode::kInvalid, 400},
                                           EarlyCase{"Nothing", ErrorCode::kNotFound, 404},
                                           EarlyCase{"Corrupt", ErrorCode::kCorrupt, 422},
                                           EarlyCase{"Full", ErrorCode::kNoSpace, 503},
                                           EarlyCase{"Away", ErrorCode::kUnavailable, 503},
                                           EarlyCase{"Stopped", ErrorCode::kCancelled, 503}),
                         [](const auto& test) { return test.param.name; });

TEST_F(Transfers, WhoWantsNoStreamWaitsForTheEnd) {
  FakeExchange exchange{"POST", "/api/hearth/pull", R"({"source":"x","stream":false})"};
  start(exchange);
  give(progress());
  EXPECT_EQ(exchange.answers, 0);
  give(done());
  EXPECT_EQ(exchange.status, 200);
  EXPECT_EQ(json::parse(exchange.body).at("done").at("name"), "smol:latest");
}

TEST_F(Transfers, WhoLeavesStopsWaiting) {
  for (const bool whole : {false, true}) {
    FakeExchange exchange{"POST", "/api/hearth/pull",
                          whole ? R"({"source":"x","stream":false})" : R"({"source":"x"})"};
    service.transfer.cancelled = service.transfer.dropped = false;
    start(exchange);
    give(progress());
    exchange.leave();
    loop.run_ready();
    EXPECT_TRUE(service.transfer.cancelled);
    EXPECT_TRUE(service.transfer.dropped);
    EXPECT_FALSE(service.transfer.detached);
  }
}

TEST_F(Transfers, DetachedItGoesOnAlone) {
  FakeExchange exchange{"POST", "/api/hearth/pull",
                        R"({"source":"x","stream":false,"detach":true})"};
  start(exchange);
  EXPECT_TRUE(service.transfer.detached);
  give(progress());
  EXPECT_EQ(exchange.status, 202);
  EXPECT_EQ(exchange.body, kProgress);
  EXPECT_TRUE(service.transfer.dropped);
}

TEST_F(Transfers, VerifyTellsOfEachModel) {
  FakeExchange exchange{"POST", "/api/hearth/verify", R"({"model":"smol","repair":true})"};
  start(exchange);
  EXPECT_EQ(service.called, "verify smol repair");
  give(verified().verified.front());
  give(verified());
  std::istringstream lines{exchange.body};
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line), json::parse(R"({"verified":{"model":"smol:latest",
      "verdict":"rotten","sha256":"ab","bytes":100,"bad_bytes":4,
      "text":"look at /secret/smol.gguf"}})"));
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line).at("done").at("verified").as_array().size(), 1U);
  EXPECT_FALSE(json::parse(line).as_object().contains("model"));
}

struct RouteCase {
  const char* name;
  const char* method;
  const char* path;
  const char* body;
  int status;
  const char* called;
  const char* answer;  // what is in it
};
class TransferRoute : public Transfers, public ::testing::WithParamInterface<RouteCase> {};

TEST_P(TransferRoute, AsksTheFront) {
  service.pulls_now.push_back(
      {"https://x.example/a.gguf?token=t", "a", "failed", "no", 1, 2, 0, 5, 0});
  service.prunable = {{"partial", "x", "old", 3}, {"unused", "y", "no name", 4}};
  service.cool_preview = {"smol:latest", "hf.co/o/s", {"/secret/smol.gguf"}, 5, 6, {"other"}};
  service.model_details.need = R"({"total_bytes":9})";
  FakeExchange exchange{GetParam().method, GetParam().path, GetParam().body};
  start(exchange);
  EXPECT_EQ(exchange.status, GetParam().status) << exchange.body;
  EXPECT_EQ(service.called, GetParam().called);
  EXPECT_NE(exchange.body.find(GetParam().answer), std::string::npos) << exchange.body;
}

INSTANTIATE_TEST_SUITE_P(
    Admin, TransferRoute,
    ::testing::Values(
        RouteCase{"Pulls", "GET", "/api/hearth/pulls", "", 200, "",
                  R"({"pulls":[{"source":"https://x.example/a.gguf?token=t","name":"a",)"
                  R"("state":"failed","reason":"no","done_bytes":1,"total_bytes":2,)"
                  R"("bytes_per_s":0,"touched_us":5,"waiting":0}]})"},
        RouteCase{"Stop", "POST", "/api/hearth/pulls/stop", R"({"name":"a"})", 200, "stop_pull a",
                  R"({"stopped":"a","dropped":false})"},
        RouteCase{"Drop", "POST", "/api/hearth/pulls/stop", R"({"name":"a","drop":true})", 200,
                  "stop_pull a drop", R"("dropped":true)"},
        RouteCase{"StopWhat", "POST", "/api/hearth/pulls/stop", "{}", 400, "", R"("field":"name")"},
        RouteCase{"Prune", "POST", "/api/hearth/prune", "", 200, "prune show",
                  R"({"dry_run":true,"bytes":7,"items":[{"kind":"partial",)"},
        RouteCase{"PruneDry", "POST", "/api/hearth/prune", R"({"dry_run":true})", 200, "prune show",
                  R"("dry_run":true)"},
        RouteCase{"PruneNow", "POST", "/api/hearth/prune", R"({"dry_run":false})", 200,
                  "prune delete", R"("dry_run":false)"},
        RouteCase{"PruneWhat", "POST", "/api/hearth/prune", R"({"dry_run":0})", 400, "",
                  R"("field":"dry_run")"},
        RouteCase{"Rescan", "POST", "/api/hearth/rescan", "", 200, "rescan", R"({"models":[)"},
        RouteCase{"PullWhat", "POST", "/api/hearth/pull", "{}", 400, "", R"("field":"source")"},
        RouteCase{"VerifyWhat", "POST", "/api/hearth/verify", R"({"model":5})", 400, "",
                  R"("field":"model")"},
        RouteCase{"Preview", "POST", "/api/hearth/cool",
                  R"({"model":"smol","layer":"artifact","preview":true})", 200, "preview_cool smol",
                  R"({"preview":{"model":"smol:latest","source":"hf.co/o/s","freed_bytes":5,)"
                  R"("fetch_bytes":6,"also":["other"],"files":["/secret/smol.gguf"]}})"},
        RouteCase{"NoPreview", "POST", "/api/hearth/cool",
                  R"({"model":"smol","layer":"pages","preview":true})", 400, "",
                  R"("field":"preview")"},
        RouteCase{"Details", "GET", "/api/hearth/details/a/smol", "", 200, "details a/smol",
                  R"({"name":"smol:latest","metadata":{},"chat_template":"","license":"",)"
                  R"("tensors":[],"layers":[],"need":{"total_bytes":9}})"},
        RouteCase{"NoDetails", "GET", "/api/hearth/details/none", "", 404, "", "there is no model"},
        RouteCase{"Create", "POST", "/api/hearth/create",
                  R"({"name":"pirate","from":"smol","system":"arr"})", 200, "create pirate",
                  R"("name":"smol:latest")"}),
    [](const auto& test) { return test.param.name; });

TEST_F(Transfers, WhoWatchesSeesNoSecretsInSources) {
  ASSERT_TRUE(service.key_ring.keys().empty());
  service.pulls_now.push_back(
      {"https://x.example/a?token=t", "a", "failed", "at /secret/a", 1, 2, 0, 5, 0});
  service.key_ring = front::KeyRing{
      {front::KeyRing::Kept{{"k", "watcher", front::Role::kReadOnly, 0}, front::digest_of("w")}}};
  FakeExchange exchange{"GET", "/api/hearth/pulls"};
  exchange.edit().headers.push_back({"x-api-key", "w"});
  start(exchange);
  EXPECT_EQ(exchange.status, 200) << exchange.body;
  EXPECT_EQ(exchange.body.find("token"), std::string::npos) << exchange.body;
  EXPECT_EQ(exchange.body.find("/secret"), std::string::npos) << exchange.body;
}

TEST_F(Transfers, ModelsTellOfTheirFiles) {
  front::ModelStatus& model = service.catalogue.front();
  model.digest = "ab";
  model.store = "hearth";
  model.source = "https://x.example/a.gguf?token=t";
  model.verified_us = 7;
  model.shared_bytes = 3;
  model.settings.system = "be kind";
  model.settings.parameters = R"({"temperature":0})";
  model.settings.chat_template = "{{ .Prompt }}";
  FakeExchange alone{"GET", "/api/hearth/models/smol"};
  start(alone);
  const json::value shown = json::parse(alone.body);
  EXPECT_EQ(shown.at("digest"), "ab");
  EXPECT_EQ(shown.at("source"), "https://x.example/a.gguf?token=t");
  EXPECT_EQ(shown.at("verified_at_us"), 7);
  EXPECT_EQ(shown.at("settings"),
            json::parse(R"({"system":"be kind","template":"{{ .Prompt }}","template_runs":false,
                            "parameters":{"temperature":0}})"));
  FakeExchange list{"GET", "/v1/models"};
  start(list);
  const json::value entry = json::parse(list.body).at("data").at(0).at("hearth");
  EXPECT_EQ(entry.at("source"), "https://x.example/a.gguf");
  EXPECT_FALSE(entry.as_object().contains("settings"));
}

}  // namespace
}  // namespace hearth::api
