// SPDX-License-Identifier: Apache-2.0
#include "api/admin/admin.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>
#include <deque>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeService;

class Admin : public ::testing::Test {
 protected:
  void start(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

struct AdminCase {
  const char* method;
  const char* path;
  const char* body;
  int status;
  const char* called;  // what the front was asked for
  const char* field;   // what the error names
};

class AdminCall : public Admin, public ::testing::WithParamInterface<AdminCase> {};

TEST_P(AdminCall, AsksTheFrontOrNamesTheField) {
  FakeExchange exchange{GetParam().method, GetParam().path, GetParam().body};
  start(exchange);
  EXPECT_EQ(exchange.status, GetParam().status) << exchange.body;
  EXPECT_EQ(service.called, GetParam().called);
  if (exchange.status == 200) return;
  const json::value field = json::parse(exchange.body).at("error").at("field");
  EXPECT_EQ(field.is_null() ? "" : json::value_to<std::string>(field), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Verbs, AdminCall,
    ::testing::Values(
        AdminCase{"POST", "/api/hearth/unload", R"({"model":"smol"})", 200, "unload smol", ""},
        AdminCase{"POST", "/api/hearth/load", "{}", 400, "", "model"},
        AdminCase{"POST", "/api/hearth/load", R"({"model":5})", 400, "", "model"},
        AdminCase{"POST", "/api/hearth/load", "", 400, "", ""},
        AdminCase{"POST", "/api/hearth/warm", R"({"model":"smol","layer":"pages"})", 200,
                  "warm smol pages", ""},
        AdminCase{"POST", "/api/hearth/cool", R"({"model":"smol","layer":"prefix"})", 200,
                  "cool smol prefix", ""},
        AdminCase{"POST", "/api/hearth/cool",
                  R"({"model":"smol","layer":"prefix","tier":"memory"})", 200,
                  "cool_prefix smol memory", ""},
        AdminCase{"POST", "/api/hearth/cool",
                  R"({"model":"smol","layer":"prefix","tier":"ram","key":"anna"})", 200,
                  "cool_prefix smol memory of anna", ""},
        AdminCase{"POST", "/api/hearth/cool", R"({"layer":"prefix"})", 200, "cool_prefix all", ""},
        AdminCase{"POST", "/api/hearth/cool", R"({"layer":"prefix","key":"anna"})", 200,
                  "cool_prefix all of anna", ""},
        AdminCase{"POST", "/api/hearth/cool", R"({"layer":"prefix","tier":"disk"})", 400, "",
                  "tier"},
        AdminCase{"POST", "/api/hearth/cool", R"({"layer":"prefix","key":""})", 400, "", "key"},
        AdminCase{"POST", "/api/hearth/cool", R"({"layer":"prefix","model":""})", 400, "", "model"},
        AdminCase{"POST", "/api/hearth/cool", R"({"layer":"pages"})", 400, "", "model"},
        AdminCase{"POST", "/api/hearth/cool", R"({"model":"smol","layer":"pages","key":"anna"})",
                  400, "", "key"},
        AdminCase{"POST", "/api/hearth/cool", R"({"model":"smol","layer":"pages","tier":"ram"})",
                  400, "", "tier"},
        AdminCase{"POST", "/api/hearth/warm", R"({"model":"smol"})", 400, "", "layer"},
        AdminCase{"POST", "/api/hearth/warm", R"({"model":"smol","layer":"all"})", 400, "",
                  "layer"},
        AdminCase{"POST", "/api/hearth/warm",
                  R"({"model":"smol","layer":"pages","keep_alive":"5m"})", 400, "", "keep_alive"},
        AdminCase{"POST", "/api/hearth/load", R"({"model":"smol","keep_alive":"abc"})", 400, "",
                  "keep_alive"},
        AdminCase{"POST", "/api/hearth/load", R"({"model":"smol","return_progress":1})", 400, "",
                  "return_progress"},
        AdminCase{"POST", "/api/hearth/pin", R"({"model":"smol"})", 200, "pin smol weights 0", ""},
        AdminCase{"POST", "/api/hearth/pin", R"({"model":"smol","layer":"pages","bytes":4096})",
                  200, "pin smol pages 4096", ""},
        AdminCase{"POST", "/api/hearth/pin", R"({"model":"smol","layer":"prefix"})", 400, "",
                  "layer"},
        AdminCase{"POST", "/api/hearth/pin", R"({"model":"smol","bytes":4096})", 400, "", "bytes"},
        AdminCase{"POST", "/api/hearth/pin", R"({"model":"smol","layer":"pages","bytes":-1})", 400,
                  "", "bytes"},
        AdminCase{"POST", "/api/hearth/pin", "{}", 400, "", "model"},
        AdminCase{"POST", "/api/hearth/unpin", R"({"model":"smol"})", 200, "unpin smol ", ""},
        AdminCase{"POST", "/api/hearth/unpin", R"({"model":"smol","layer":"pages"})", 200,
                  "unpin smol pages", ""},
        AdminCase{"POST", "/api/hearth/unpin", R"({"model":"smol","layer":"all"})", 400, "",
                  "layer"},
        AdminCase{"POST", "/api/hearth/import", R"({"path":"/m/a.gguf","name":"a"})", 200,
                  "import /m/a.gguf a", ""},
        AdminCase{"POST", "/api/hearth/import", R"({"path":"/m/a.gguf"})", 400, "", "name"},
        AdminCase{"POST", "/api/hearth/import", R"({"path":"/x/b","name":"b"})", 404,
                  "import /x/b b", ""},
        AdminCase{"DELETE", "/api/hearth/models/a/smol:q4", "", 200, "remove a/smol:q4", ""}));

TEST_F(Admin, TellsWhatIsKeptOfPromptsAndWhatWasFound) {
  for (const auto& [path, answer] : {std::pair{"/api/hearth/prefix", R"({"models":[]})"},
                                     std::pair{"/api/hearth/doctor", R"({"findings":[]})"}}) {
    FakeExchange exchange{"GET", path, ""};
    start(exchange);
    EXPECT_EQ(exchange.status, 200) << path;
    EXPECT_EQ(exchange.body, answer);
    EXPECT_EQ(service.told_texts, front::PromptTexts::kTold) << "everybody is the admin";
  }
}

TEST_F(Admin, TellsPiecesOfPromptsToAdminsOnly) {
  using front::KeyRing;
  service.key_ring =
      KeyRing{{KeyRing::Kept{{"k", "watcher", front::Role::kReadOnly, 0}, front::digest_of("w")},
               KeyRing::Kept{{"l", "owner", front::Role::kAdmin, 0}, front::digest_of("o")}}};
  for (const char* path : {"/api/hearth/prefix", "/api/hearth/doctor"}) {
    for (const auto& [key, texts] : {std::pair{"w", front::PromptTexts::kWithheld},
                                     std::pair{"o", front::PromptTexts::kTold}}) {
      FakeExchange exchange{"GET", path};
      exchange.edit().headers.push_back({"x-api-key", key});
      start(exchange);
      EXPECT_EQ(exchange.status, 200) << path;
      EXPECT_EQ(service.told_texts, texts) << path << key;
    }
  }
}

TEST_F(Admin, CoolingAllPrefixesSaysHowMuchWentAndOneModelHowItIs) {
  FakeExchange all{"POST", "/api/hearth/cool", R"({"layer":"prefix"})"};
  start(all);
  EXPECT_EQ(all.body, R"({"freed_bytes":4096})");
  FakeExchange one{"POST", "/api/hearth/cool", R"({"model":"smol","layer":"prefix","tier":"ram"})"};
  start(one);
  EXPECT_EQ(json::parse(one.body).at("name"), "smol:latest");
}

TEST_F(Admin, LoadAnswersWhenItIsDone) {
  FakeExchange exchange{"POST", "/api/hearth/load", R"({"model":"smol"})"};
  start(exchange);
  EXPECT_EQ(service.called, "load smol");
  EXPECT_EQ(exchange.status, 0);
  service.record.events.push(front::Finished{});
  loop.run_ready();
  EXPECT_EQ(exchange.status, 200) << exchange.body;
  EXPECT_EQ(service.record.sent, 200);
}

TEST_F(Admin, LoadAndWarmCarryHowLongToWaitAndToStay) {
  for (const char* path : {"/api/hearth/load", "/api/hearth/warm"}) {
    FakeExchange exchange{"POST", path, R"({"model":"smol","layer":"weights","keep_alive":90})"};
    exchange.edit().headers.push_back({"Prefer", "wait=2"});
    start(exchange);
    EXPECT_EQ(service.loaded.context.keep_alive->text(), "1m30s") << path;
    EXPECT_EQ(service.loaded.context.wait_limit, std::chrono::seconds{2}) << path;
    service.record.events.push(
        front::Refused{Error{ErrorCode::kUnavailable, "loading"}, 3, 2500.0, {}});
    loop.run_ready();
    EXPECT_EQ(exchange.status, 503);
    EXPECT_EQ(exchange.header("Retry-After"), "3");
    EXPECT_EQ(json::parse(exchange.body).at("error").at("eta_ms"), 2500);
    EXPECT_EQ(service.record.sent, 503);
  }
}

TEST_F(Admin, ALoadTellsOfItsProgressLineByLine) {
  FakeExchange exchange{"POST", "/api/hearth/load", R"({"model":"smol","return_progress":true})"};
  start(exchange);
  EXPECT_EQ(exchange.answers, 0);
  service.record.events.push(front::Progress{"read", 0.5, 2, 4});
  loop.run_ready();
  EXPECT_EQ(exchange.header("Content-Type"), "application/x-ndjson");
  EXPECT_EQ(exchange.header("X-Request-Id"), "r1");
  EXPECT_EQ(
      exchange.body,
      "{\"progress\":{\"stage\":\"read\",\"fraction\":0.5,\"done_bytes\":2,\"total_bytes\":4}}\n");
  exchange.body.clear();
  service.record.events.push(front::Finished{});
  loop.run_ready();
  EXPECT_EQ(json::parse(exchange.body).at("name"), "smol:latest");
  EXPECT_TRUE(exchange.body.ends_with("}\n"));
  EXPECT_TRUE(exchange.ended);
  EXPECT_EQ(service.record.sent, 200);
}

TEST_F(Admin, ALoadThatFailsBeforeAnyProgressHasItsOwnStatus) {
  FakeExchange exchange{"POST", "/api/hearth/load", R"({"model":"smol","return_progress":true})"};
  start(exchange);
  service.record.events.push(front::Refused{Error{ErrorCode::kNotFound, "no"}, {}, {}, {}});
  loop.run_ready();
  EXPECT_EQ(exchange.status, 404);
  EXPECT_EQ(service.record.sent, 404);
}

TEST_F(Admin, ALoadThatFailsAfterwardsEndsWithTheError) {
  FakeExchange exchange{"POST", "/api/hearth/load", R"({"model":"smol","return_progress":true})"};
  start(exchange);
  service.record.events.push(front::Progress{"read", 0.5, 2, 4});
  service.record.events.push(front::Refused{Error{ErrorCode::kCorrupt, "torn"}, {}, {}, {}});
  loop.run_ready();
  const std::string last = exchange.body.substr(exchange.body.find('\n') + 1);
  EXPECT_EQ(json::parse(last).at("error").at("type"), "invalid_model_error");
  EXPECT_TRUE(exchange.ended);
}

TEST_F(Admin, ALoadGoesOnWithoutItsReader) {
  FakeExchange exchange{"POST", "/api/hearth/load", R"({"model":"smol","return_progress":true})"};
  start(exchange);
  service.record.events.push(front::Progress{"read", 0.5, 2, 4});
  loop.run_ready();
  exchange.leave();
  service.record.events.push(front::Progress{"read", 0.7, 3, 4});
  loop.run_ready();
  EXPECT_FALSE(service.record.cancelled);
  EXPECT_FALSE(service.record.dropped);
  service.record.events.push(front::Finished{});
  loop.run_ready();
  EXPECT_EQ(service.record.sent, 200);
}

TEST_F(Admin, ModelsShowPaths) {
  FakeExchange list{"GET", "/api/hearth/models"};
  start(list);
  EXPECT_EQ(json::parse(list.body).at("models").at(0).at("paths").at(0), "/secret/smol.gguf");
  FakeExchange one{"GET", "/api/hearth/models/a/smol"};
  start(one);
  EXPECT_EQ(json::parse(one.body).at("name"), "smol:latest");
}

TEST_F(Admin, AnImportErrorNamesWhatWasAskedFor) {
  FakeExchange exchange{"POST", "/api/hearth/import", R"({"path":"/x/b","name":"b"})"};
  start(exchange);
  EXPECT_NE(exchange.body.find("open /x/b"), std::string::npos);
}

TEST_F(Admin, RequestsTakeAQuery) {
  FakeExchange exchange{"GET", "/api/hearth/requests"};
  exchange.edit().query = "limit=5&before=z&model=smol";
  start(exchange);
  EXPECT_EQ(exchange.body, R"({"requests":[{"request_id":"b"},{"request_id":"a"}]})");
  EXPECT_EQ(service.asked.limit, 5);
  EXPECT_EQ(service.asked.before, "z");
  EXPECT_EQ(service.asked.model, "smol");
}

TEST_F(Admin, RequestLimitsAreChecked) {
  for (const char* query : {"limit=0", "limit=1001", "limit=x", "limit=", "limit=5x"}) {
    FakeExchange exchange{"GET", "/api/hearth/requests"};
    exchange.edit().query = query;
    start(exchange);
    EXPECT_EQ(exchange.status, 400) << query;
    EXPECT_EQ(json::parse(exchange.body).at("error").at("field"), "limit") << query;
  }
}

TEST_F(Admin, OneRequest) {
  FakeExchange last{"GET", "/api/hearth/requests/last"};
  start(last);
  EXPECT_EQ(last.body, R"({"request_id":"b"})");
  FakeExchange none{"GET", "/api/hearth/requests/none"};
  start(none);
  EXPECT_EQ(none.status, 404);
}

TEST_F(Admin, EventsArriveAsTheyHappen) {
  FakeExchange exchange{"GET", "/api/hearth/events"};
  start(exchange);
  EXPECT_EQ(exchange.header("Content-Type"), "text/event-stream; charset=utf-8");
  exchange.body.clear();
  service.bus.publish("levels", R"({"a":1})");
  loop.run_ready();
  EXPECT_EQ(exchange.body, "event: levels\nid: 1\ndata: {\"a\":1}\n\n");
  exchange.body.clear();
  loop.run_for(std::chrono::seconds{16});
  EXPECT_EQ(exchange.body, ": still here\n\n");
  service.bus.close_all();
  loop.run_ready();
  EXPECT_TRUE(exchange.ended);
  EXPECT_EQ(service.bus.subscribers(), 0U);
}

TEST_F(Admin, ASubscriberThatLeavesIsForgotten) {
  FakeExchange exchange{"GET", "/api/hearth/events"};
  start(exchange);
  ASSERT_EQ(service.bus.subscribers(), 1U);
  exchange.leave();
  loop.run_ready();
  EXPECT_EQ(service.bus.subscribers(), 0U);
}

TEST_F(Admin, AThousandSubscribersGetTheSameEvent) {
  std::deque<FakeExchange> exchanges;
  for (int i = 0; i < 1000; ++i) {
    exchanges.emplace_back("GET", "/api/hearth/events");
    start(exchanges.back());
  }
  service.bus.publish("request", "{}");
  loop.run_ready();
  for (const FakeExchange& exchange : exchanges) {
    ASSERT_TRUE(exchange.body.ends_with("event: request\nid: 1\ndata: {}\n\n"));
  }
  service.bus.close_all();
  loop.run_ready();
}

TEST_F(Admin, HeadOfEventsEnds) {
  FakeExchange exchange{"HEAD", "/api/hearth/events"};
  start(exchange);
  EXPECT_TRUE(exchange.ended);
  EXPECT_EQ(service.bus.subscribers(), 0U);
}

TEST_F(Admin, Version) {
  FakeExchange exchange{"GET", "/api/hearth/version"};
  start(exchange);
  EXPECT_EQ(exchange.body, R"({"version":"0","role":"admin"})");
}

}  // namespace
}  // namespace hearth::api
