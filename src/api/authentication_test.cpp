// SPDX-License-Identifier: Apache-2.0
#include "api/authentication.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api {
namespace {

using front::Role;
using testing::FakeExchange;
using testing::FakeService;

front::KeyRing ring() {
  std::vector<front::KeyRing::Kept> keys;
  for (const Role role : {Role::kUse, Role::kReadOnly, Role::kAdmin}) {
    const std::string name{front::name_of(role)};
    keys.push_back({front::KeyInfo{"id-" + name, name, role, 1}, front::digest_of(name)});
  }
  return front::KeyRing{std::move(keys)};
}

std::string outcome_of(const http::HttpRequest& request, const front::KeyRing& keys, Needs needs) {
  const auto identity = authenticate(request, keys, needs);
  if (const auto* caller = std::get_if<Caller>(&identity)) {
    return caller->key + "/" + std::string{front::name_of(caller->role)};
  }
  const auto& rejection = std::get<Rejection>(identity);
  return std::to_string(rejection.status) + " " + std::string{rejection.reason};
}

struct HeaderCase {
  const char* label;
  http::Headers headers;
  const char* outcome;
};
class KeyHeaders : public ::testing::TestWithParam<HeaderCase> {};
TEST_P(KeyHeaders, AreRead) {
  http::HttpRequest request;
  request.headers = GetParam().headers;
  EXPECT_EQ(outcome_of(request, ring(), Needs::kAnyKey), GetParam().outcome);
  EXPECT_EQ(outcome_of(request, front::KeyRing{}, Needs::kAdmin), "/admin");
}
INSTANTIATE_TEST_SUITE_P(
    Forms, KeyHeaders,
    ::testing::Values(
        HeaderCase{"None", {}, "401 missing"},
        HeaderCase{"Bearer", {{"Authorization", "Bearer use"}}, "id-use/use"},
        HeaderCase{"AnyCase", {{"authorization", "bEARER use"}}, "id-use/use"},
        HeaderCase{"MoreSpaces", {{"Authorization", "  Bearer   use  "}}, "id-use/use"},
        HeaderCase{"ApiKey", {{"X-Api-Key", "admin"}}, "id-admin/admin"},
        HeaderCase{
            "BothAlike", {{"Authorization", "Bearer use"}, {"x-api-key", "use"}}, "id-use/use"},
        HeaderCase{"BothDifferent",
                   {{"Authorization", "Bearer use"}, {"x-api-key", "admin"}},
                   "401 conflicting"},
        HeaderCase{"OneOfBothWrong",
                   {{"Authorization", "Bearer admin"}, {"x-api-key", "x"}},
                   "401 conflicting"},
        HeaderCase{"TwoBearers",
                   {{"Authorization", "Bearer use"}, {"Authorization", "Bearer admin"}},
                   "401 conflicting"},
        HeaderCase{"EmptyApiKeyBeside",
                   {{"Authorization", "Bearer use"}, {"x-api-key", ""}},
                   "id-use/use"},
        HeaderCase{"Basic", {{"Authorization", "Basic dXNlOnVzZQ=="}}, "401 malformed"},
        HeaderCase{"BasicBeside",
                   {{"Authorization", "Basic dXNlOnVzZQ=="}, {"x-api-key", "use"}},
                   "id-use/use"},
        HeaderCase{"NoScheme", {{"Authorization", "use"}}, "401 malformed"},
        HeaderCase{"NoKey", {{"Authorization", "Bearer "}}, "401 malformed"},
        HeaderCase{"Empty", {{"Authorization", ""}}, "401 missing"},
        HeaderCase{"EmptyApiKey", {{"x-api-key", ""}}, "401 missing"},
        HeaderCase{"Wrong", {{"Authorization", "Bearer Use"}}, "401 unknown"},
        HeaderCase{"TwoWords", {{"Authorization", "Bearer use admin"}}, "401 unknown"}),
    [](const auto& test) { return test.param.label; });

struct RoleCase {
  Needs needs;
  bool nobody, use, read_only, admin;
};
constexpr RoleCase kRoles[] = {
    {Needs::kNothing, true, true, true, true},  {Needs::kAnyKey, false, true, true, true},
    {Needs::kUse, false, true, false, true},    {Needs::kWatch, false, false, true, true},
    {Needs::kAdmin, false, false, false, true},
};

TEST(Authenticate, HoldsEachRoleToWhatARouteNeeds) {
  for (const RoleCase& row : kRoles) {
    const auto may = [&](const char* key) {
      http::HttpRequest request;
      if (*key != '\0') request.headers.push_back({"x-api-key", key});
      return std::holds_alternative<Caller>(authenticate(request, ring(), row.needs));
    };
    EXPECT_EQ(may(""), row.nobody) << name_of(row.needs);
    EXPECT_EQ(may("use"), row.use) << name_of(row.needs);
    EXPECT_EQ(may("read-only"), row.read_only) << name_of(row.needs);
    EXPECT_EQ(may("admin"), row.admin) << name_of(row.needs);
  }
}

TEST(Authenticate, WhereNothingIsNeededABadKeyIsNoHarm) {
  http::HttpRequest request;
  EXPECT_EQ(outcome_of(request, ring(), Needs::kNothing), "/use");
  request.headers.push_back({"x-api-key", "unknown"});
  EXPECT_EQ(outcome_of(request, ring(), Needs::kNothing), "/use");
}

// ---- the routes themselves ----

class Guarded : public ::testing::Test {
 protected:
  void answer(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange));
    loop.run_ready();
  }
  FakeExchange asked(const Route& route, std::string_view key) {
    std::string path{route.pattern};
    if (const auto brace = path.find('{'); brace != std::string::npos)
      path.resize(brace), path += "x";
    FakeExchange exchange{std::string{route.method}, path, "[]"};
    if (!key.empty()) exchange.edit().headers.push_back({"x-api-key", std::string{key}});
    return exchange;
  }
  static bool expected(Needs needs, std::string_view key) {
    if (needs == Needs::kNothing) return true;
    const auto role = front::role_named(key);
    return role && permits(*role, needs);
  }

  SimEventLoop loop;
  FakeService service{loop};
};

// The bodies are no objects: what is let in gets 400, and what is kept out never gets so far.
TEST_F(Guarded, EveryRouteAsksForItsRole) {
  service.key_ring = ring();
  for (const Route& route : routes()) {
    if (route.pattern == "/api/hearth/events") continue;  // would not end
    for (const char* key : {"", "wrong", "use", "read-only", "admin"}) {
      FakeExchange exchange = asked(route, key);
      answer(exchange);
      const int refused = front::role_named(key) ? 403 : 401;
      EXPECT_EQ(exchange.status != refused, expected(route.needs, key))
          << route.method << " " << route.pattern << " " << key;
      EXPECT_EQ(exchange.header("WWW-Authenticate"), exchange.status == 401 ? "Bearer" : "");
    }
  }
}

TEST_F(Guarded, WithoutKeysEverybodyIsAnAdmin) {
  for (const Route& route : routes()) {
    if (route.pattern == "/api/hearth/events") continue;
    FakeExchange exchange = asked(route, "sk-none");
    answer(exchange);
    EXPECT_NE(exchange.status, 401) << route.pattern;
    EXPECT_NE(exchange.status, 403) << route.pattern;
  }
}

TEST(RouteTable, SaysWhatEachDoesInOneLine) {
  for (const Route& route : routes()) {
    EXPECT_FALSE(route.summary.empty()) << route.pattern;
    EXPECT_LE(route.summary.size(), 80U) << route.pattern;
    EXPECT_EQ(route.summary.find('\n'), std::string_view::npos) << route.pattern;
  }
}

TEST_F(Guarded, RefusalsHaveTheirDialectsShape) {
  service.key_ring = ring();
  struct Shape {
    const char* path;
    const char* pointer;
  };
  for (const Shape& shape :
       {Shape{"/v1/chat/completions", "/error/type"}, Shape{"/v1/messages", "/error/type"},
        Shape{"/api/hearth/load", "/error/type"}}) {
    FakeExchange unknown{"POST", shape.path, "{}"};
    answer(unknown);
    EXPECT_EQ(unknown.status, 401);
    EXPECT_EQ(boost::json::parse(unknown.body).at_pointer(shape.pointer), "authentication_error");
    FakeExchange wrong{"POST", shape.path, "{}"};
    wrong.edit().headers.push_back({"x-api-key", "read-only"});
    answer(wrong);
    EXPECT_EQ(wrong.status, 403);
    EXPECT_EQ(boost::json::parse(wrong.body).at_pointer(shape.pointer), "permission_error");
    EXPECT_NE(wrong.body.find("role use or admin"), std::string::npos) << wrong.body;
  }
  FakeExchange ollama{"POST", "/api/chat", "{}"};
  answer(ollama);
  EXPECT_EQ(ollama.status, 401);
  EXPECT_TRUE(boost::json::parse(ollama.body).at("error").is_string());
}

TEST_F(Guarded, FailuresAreCounted) {
  service.key_ring = ring();
  for (const char* key : {"", "wrong", "use"}) {
    FakeExchange exchange{"GET", "/metrics"};
    if (*key != '\0') exchange.edit().headers.push_back({"x-api-key", key});
    answer(exchange);
  }
  const std::string text = service.metrics().text();
  for (const char* reason : {"missing", "unknown", "role"}) {
    const std::string line = std::string{"hearth_auth_failures_total{reason=\""} + reason + "\"} 1";
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

TEST_F(Guarded, TheKeysIdGoesWithItsRequest) {
  service.key_ring = ring();
  FakeExchange exchange{"POST", "/v1/completions", R"({"model":"smol","prompt":"a"})"};
  exchange.edit().headers.push_back({"Authorization", "Bearer use"});
  answer(exchange);
  EXPECT_EQ(service.generated.context.key, "id-use");
  service.record.events.push(front::Finished{});
  loop.run_ready();
}

TEST_F(Guarded, EventsEndWithTheirKey) {
  service.key_ring = ring();
  FakeExchange exchange{"GET", "/api/hearth/events"};
  exchange.edit().headers.push_back({"x-api-key", "read-only"});
  answer(exchange);
  service.bus.publish("model", "{}");
  loop.run_ready();
  EXPECT_NE(exchange.body.find("event: model"), std::string::npos);
  service.key_ring = front::KeyRing{{ring().keys().back()}};
  service.bus.publish("request", "{}");
  loop.run_ready();
  EXPECT_TRUE(exchange.ended);
  EXPECT_EQ(exchange.body.find("event: request"), std::string::npos);
}

TEST_F(Guarded, EventsWithoutAKeyEndWithTheFirstOne) {
  FakeExchange exchange{"GET", "/api/hearth/events"};
  answer(exchange);
  service.key_ring = ring();
  service.bus.publish("request", "{}");
  loop.run_ready();
  EXPECT_TRUE(exchange.ended);
}

TEST_F(Guarded, OnlyAdminsSeePaths) {
  service.key_ring = ring();
  for (const char* path : {"/api/hearth/models", "/api/hearth/models/smol"}) {
    for (const char* key : {"use", "read-only", "admin"}) {
      FakeExchange exchange{"GET", path};
      exchange.edit().headers.push_back({"x-api-key", key});
      answer(exchange);
      EXPECT_EQ(exchange.status, 200);
      EXPECT_EQ(exchange.body.find("/secret") != std::string::npos,
                std::string_view{key} == "admin")
          << path << " " << key;
    }
  }
}

}  // namespace
}  // namespace hearth::api
