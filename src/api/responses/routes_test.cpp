// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/api.h"
#include "api/responses/kept_responses.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api::responses {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeService;

class ResponseRoutes : public ::testing::Test {
 protected:
  FakeExchange ask(const std::string& method, const std::string& path, const std::string& body = "",
                   const std::string& query = "") {
    FakeExchange exchange{method, path, body};
    exchange.edit().query = query;
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
    return exchange;
  }

  // Asks for a response, and lets the model say `text`.
  json::value create(const std::string& more, const std::string& text = "ho") {
    FakeExchange exchange{"POST", "/v1/responses", R"({"model":"smol",)" + more + "}"};
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
    service.record.events.push(front::Delta{text, "", {}});
    front::Finished end;
    end.reason = "stop";
    service.record.events.push(std::move(end));
    loop.run_ready();
    EXPECT_EQ(exchange.status, 200) << exchange.body;
    return json::parse(exchange.body);
  }

  SimEventLoop loop;
  FakeService service{loop};
  KeptResponses kept{loop, std::move(*ResponseStore::open(":memory:", loop.clock())),
                     KeptResponses::Inline{}};
  ApiOptions options{&loop.clock(), &kept};
};

TEST_F(ResponseRoutes, KeepsWhatItAnswered) {
  const json::value made = create(R"("input":"hi")");
  EXPECT_EQ(made.at("id"), json::value("resp_r1"));
  const FakeExchange shown = ask("GET", "/v1/responses/resp_r1");
  ASSERT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(json::parse(shown.body).at("output"), made.at("output"));
  const FakeExchange items = ask("GET", "/v1/responses/resp_r1/input_items");
  ASSERT_EQ(items.status, 200) << items.body;
  EXPECT_EQ(json::parse(items.body).at("data").at(0).at("content").at(0).at("text"),
            json::value("hi"));
  const FakeExchange removed = ask("DELETE", "/v1/responses/resp_r1");
  EXPECT_EQ(removed.body, R"({"id":"resp_r1","object":"response","deleted":true})");
  for (const char* path : {"/v1/responses/resp_r1", "/v1/responses/resp_r1/input_items"}) {
    EXPECT_EQ(ask("GET", path).status, 404);
  }
}

TEST_F(ResponseRoutes, KeepsNothingWhereItShallNot) {
  create(R"("input":"hi","store":false)");
  EXPECT_EQ(ask("GET", "/v1/responses/resp_r1").status, 404);
}

TEST_F(ResponseRoutes, GoesOnFromAnEarlierOne) {
  create(R"("input":"hi","instructions":"Be kind.")");
  create(R"("input":"so?","previous_response_id":"resp_r1","store":false)");
  EXPECT_EQ(service.generated.message.messages,
            R"([{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},)"
            R"({"role":"user","content":"so?"}])");
}

TEST_F(ResponseRoutes, RefusesWhatIsNotKept) {
  const FakeExchange answer =
      ask("POST", "/v1/responses", R"({"model":"smol","input":"x","previous_response_id":"no"})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(json::parse(answer.body).at("error").at("param"), json::value("previous_response_id"));
  EXPECT_EQ(ask("DELETE", "/v1/responses/no").status, 404);
}

TEST_F(ResponseRoutes, NamesFieldsAsItsClientsKnowThem) {
  FakeExchange exchange{"POST", "/v1/responses", R"({"model":"smol","input":"x"})"};
  loop.spawn(handle(service, exchange, options));
  loop.run_ready();
  Error error{ErrorCode::kInvalid, "it cannot think"};
  service.record.events.push(front::Refused{std::move(error).at("think"), {}, {}, {}});
  loop.run_ready();
  EXPECT_EQ(exchange.status, 400);
  EXPECT_EQ(json::parse(exchange.body).at("error").at("param"), json::value("reasoning.effort"));
}

struct PageCase {
  const char* query;
  const char* ids;  // or the field at fault
};

class InputPages : public ResponseRoutes, public ::testing::WithParamInterface<PageCase> {};

TEST_P(InputPages, AreTheseItems) {
  create(R"("input":[{"role":"user","content":"a","id":"a"},{"role":"user","content":"b","id":"b"},
                     {"role":"user","content":"c","id":"c"}])");
  const FakeExchange answer = ask("GET", "/v1/responses/resp_r1/input_items", "", GetParam().query);
  const json::value body = json::parse(answer.body);
  std::string ids;
  if (answer.status == 200) {
    for (const json::value& item : body.at("data").as_array()) {
      ids += std::string_view{item.at("id").as_string()};
    }
    if (body.at("has_more").as_bool()) ids += "+";
  } else {
    ids = std::string_view{body.at("error").at("param").as_string()};
  }
  EXPECT_EQ(ids, GetParam().ids);
}

INSTANTIATE_TEST_SUITE_P(
    Responses, InputPages,
    ::testing::Values(PageCase{"", "cba"}, PageCase{"order=asc", "abc"}, PageCase{"limit=2", "cb+"},
                      PageCase{"limit=2&after=b", "a"}, PageCase{"order=asc&after=a", "bc"},
                      PageCase{"limit=0", "limit"}, PageCase{"order=x", "order"},
                      PageCase{"after=z", "after"}));

}  // namespace
}  // namespace hearth::api::responses
