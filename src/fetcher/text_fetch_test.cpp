// SPDX-License-Identifier: Apache-2.0
#include "fetcher/text_fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "fetcher/testing/scripted_server.h"

namespace hearth::fetcher {
namespace {

using testing::Asked;
using ::testing::HasSubstr;
using testing::Reply;
using testing::reply;
using testing::ScriptedServer;

class TextFetch : public ::testing::Test {
 protected:
  Result<wire::FetchedText> fetch(const std::string& url) {
    Result<HttpSettings> settings =
        HttpSettings::of(rules_, [this](const char* name) { return environment_[name]; });
    if (!settings) return Failed{settings.error()};
    settings->known_addresses = known_addresses_;
    Connections connections{*std::move(settings)};
    return fetch_text(connections, {url, headers_, limit_}, rules_);
  }
  // "code: message"
  std::string failure(const std::string& url) {
    const auto text = fetch(url);
    if (text) return "answered " + std::to_string(text->status);
    return std::string{name_of(text.error().code())} + ": " + text.error().message();
  }
  void allow(const std::string& rule) { rules_.hosts.push_back(rule); }

  wire::FetchRules rules_ = [] {
    wire::FetchRules rules;
    rules.user_agent = "hearth/test";
    rules.stall_ms = 20'000;
    rules.retry_ms = 1;
    rules.retries = 0;
    return rules;
  }();
  std::vector<wire::HttpField> headers_;
  Bytes limit_{1000};
  std::map<std::string, std::string> environment_;
  std::vector<std::string> known_addresses_;
};

TEST_F(TextFetch, GivesAnyAnswerAsItIs) {
  ScriptedServer server{[](const Asked& asked) {
    return reply(asked.path == "/a" ? 200 : 401, "WWW-Authenticate: Bearer x\r\n", "bo\0dy");
  }};
  allow(server.rule());
  headers_ = {{"Accept", "application/json"}, {"X-Empty", ""}};
  const auto good = fetch(server.url("/a"));
  ASSERT_TRUE(good) << good.error().message();
  EXPECT_EQ(good->status, 200);
  EXPECT_EQ(good->body, "bo");
  EXPECT_EQ(good->url, server.url("/a"));
  const auto other = fetch(server.url("/b"));
  ASSERT_TRUE(other) << other.error().message();
  EXPECT_EQ(other->status, 401);
  EXPECT_THAT(other->headers, ::testing::Contains(wire::HttpField{"www-authenticate", "Bearer x"}));

  const Asked asked = server.asked().front();
  EXPECT_EQ(asked.field("user-agent"), "hearth/test");
  EXPECT_EQ(asked.field("accept"), "application/json");
  EXPECT_EQ(asked.field("accept-encoding"), "identity");
}

TEST_F(TextFetch, IsLimited) {
  ScriptedServer server{[](const Asked& asked) {
    const std::string body(1001, 'x');
    if (asked.path == "/announced") return reply(200, "", body);
    return Reply{"HTTP/1.1 200 OK\r\n\r\n" + body, Reply::Then::kClose};
  }};
  allow(server.rule());
  for (const char* path : {"/announced", "/unannounced"}) {
    EXPECT_EQ(failure(server.url(path)),
              "unsupported: " + server.server() + " answers with more than 1000 B");
  }
  limit_ = Bytes{1001};
  EXPECT_EQ(fetch(server.url("/unannounced"))->body.size(), 1001U);
}

TEST_F(TextFetch, FollowsRedirectsButNotForEver) {
  ScriptedServer server{[](const Asked& asked) {
    const int left = std::stoi(asked.path.substr(1));
    if (left == 0) return reply(200, "", "end");
    return reply(302, "Location: " + std::to_string(left - 1) + "\r\n", "moved");
  }};
  allow(server.rule());
  const auto text = fetch(server.url("/10"));
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(text->body, "end");
  EXPECT_EQ(text->url, server.url("/0"));
  EXPECT_EQ(failure(server.url("/11")),
            "unavailable: " + server.server() + " redirects without end: more than 10 times");
}

TEST_F(TextFetch, CredentialsStayWithTheirServer) {
  ScriptedServer second{[](const Asked& asked) {
    if (asked.path == "/end") return reply(200, "", "ok");
    return reply(307, "Location: /end\r\n", "");
  }};
  ScriptedServer first{[&](const Asked& asked) {
    if (asked.path == "/back") return reply(302, "Location: " + second.url("/x") + "\r\n", "");
    return reply(302, "Location: /back\r\n", "");
  }};
  allow(first.rule());
  allow(second.rule());
  headers_ = {{"Authorization", "Bearer secret"}, {"X-Token", "secret"}};
  ASSERT_TRUE(fetch(first.url("/")));
  ASSERT_EQ(first.asked().size(), 2U);
  for (const Asked& asked : first.asked()) EXPECT_EQ(asked.field("authorization"), "Bearer secret");
  ASSERT_EQ(second.asked().size(), 2U);
  for (const Asked& asked : second.asked()) {
    EXPECT_EQ(asked.field("authorization"), "");
    EXPECT_EQ(asked.field("x-token"), "");
  }
}

TEST_F(TextFetch, OnlyHostsOfARuleAreAsked) {
  ScriptedServer server{[](const Asked&) { return reply(200, "", "ok"); }};
  EXPECT_THAT(failure(server.url("/")), HasSubstr("is not among the hosts"));
  allow("http://*:" + std::to_string(server.port()));
  EXPECT_THAT(failure(server.url("/")), HasSubstr("in a private network"));
  EXPECT_TRUE(server.asked().empty());
  allow(server.rule());
  EXPECT_TRUE(fetch(server.url("/")));
}

TEST_F(TextFetch, ANameForAPrivateAddressIsRefused) {
  ScriptedServer server{[](const Asked&) { return reply(200, "", "ok"); }};
  const std::string port = std::to_string(server.port());
  known_addresses_ = {"models.example:" + port + ":127.0.0.1"};
  allow("http://*.example:" + port);
  EXPECT_THAT(failure("http://models.example:" + port + "/"),
              HasSubstr("invalid: models.example:" + port + " (127.0.0.1) is not on the internet"));
  EXPECT_TRUE(server.asked().empty());
  EXPECT_EQ(server.connections(), 0);
  allow("http://models.example:" + port);
  const auto text = fetch("http://models.example:" + port + "/");
  ASSERT_TRUE(text) << text.error().message();
}

TEST_F(TextFetch, ARedirectToAPrivateAddressIsRefused) {
  ScriptedServer inside{[](const Asked&) { return reply(200, "", "secret"); }};
  ScriptedServer server{[&](const Asked& asked) {
    const std::string to = asked.path == "/plain" ? inside.url("/") : "https://" + inside.server();
    const std::string named = "https://cdn.example:" + std::to_string(inside.port());
    return reply(302, "Location: " + (asked.path == "/named" ? named : to) + "\r\n", "");
  }};
  known_addresses_ = {"cdn.example:" + std::to_string(inside.port()) + ":127.0.0.1"};
  allow(server.rule());
  for (const char* path : {"/plain", "/tls", "/named"}) {
    EXPECT_THAT(failure(server.url(path)), HasSubstr("invalid: ")) << path;
  }
  EXPECT_EQ(inside.connections(), 0);
}

TEST_F(TextFetch, RedirectsToOtherSchemesAreRefused) {
  ScriptedServer server{
      [](const Asked&) { return reply(302, "Location: file:///etc/passwd\r\n", ""); }};
  allow(server.rule());
  EXPECT_EQ(failure(server.url("/")),
            "invalid: " + server.server() + " sent us on: the URL is neither http nor https");
}

TEST_F(TextFetch, GoesThroughTheProxy) {
  ScriptedServer proxy{[](const Asked&) { return reply(200, "", "by proxy"); }};
  environment_ = {{"HTTP_PROXY", proxy.url("")}};
  allow("http://*.example");
  const auto text = fetch("http://models.example/x");
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(text->body, "by proxy");
  EXPECT_EQ(proxy.asked().front().path, "http://models.example/x");
}

TEST_F(TextFetch, SaysWhatWentWrong) {
  ScriptedServer server{[](const Asked& asked) -> Reply {
    if (asked.path == "/closes") return {"", Reply::Then::kClose};
    if (asked.path == "/breaks") {
      return {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Reply::Then::kClose};
    }
    if (asked.path == "/other") return {"SSH-2.0-x\r\n\r\n", Reply::Then::kClose};
    if (asked.path == "/gzip") return reply(200, "Content-Encoding: gzip\r\n", "x");
    std::string flood;
    for (int i = 0; i < 300; ++i) flood += "A: b\r\n";
    return reply(200, flood, "x");
  }};
  allow(server.rule());
  const std::string at = server.server();
  EXPECT_EQ(failure(server.url("/closes")),
            "unavailable: " + at + " closed the connection without an answer");
  EXPECT_EQ(failure(server.url("/breaks")),
            "unavailable: the connection to " + at + " broke after 3 B");
  EXPECT_EQ(failure(server.url("/other")), "unavailable: " + at + " does not speak HTTP");
  EXPECT_THAT(failure(server.url("/gzip")), HasSubstr("unsupported: "));
  EXPECT_EQ(failure(server.url("/flood")), "unavailable: " + at + " sent headers without end");
  EXPECT_THAT(failure("https://" + at + "/"), HasSubstr("invalid: "));
  headers_ = {{"X", "a\r\nHost: evil"}};
  EXPECT_EQ(failure(server.url("/")), "invalid: the header X holds a control character");
}

TEST_F(TextFetch, TlsProblemsAreNamed) {
  ScriptedServer server{[](const Asked&) { return reply(200, "", ""); }};
  allow("127.0.0.1:" + std::to_string(server.port()));
  rules_.stall_ms = 200;
  EXPECT_THAT(failure("https://" + server.server() + "/"), HasSubstr("unavailable: "));
}

TEST_F(TextFetch, NobodyListensIsSaid) {
  std::string at;
  {
    ScriptedServer gone{[](const Asked&) { return reply(200, "", ""); }};
    at = gone.server();
  }
  allow("http://" + at);
  EXPECT_EQ(failure("http://" + at + "/"),
            "unavailable: cannot connect to " + at + ": Connection refused");
}

TEST_F(TextFetch, AStallEnds) {
  ScriptedServer server{[](const Asked&) -> Reply {
    return {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Reply::Then::kStall};
  }};
  allow(server.rule());
  rules_.stall_ms = 50;
  EXPECT_EQ(failure(server.url("/")),
            "unavailable: " + server.server() + " sent nothing for 0.05 s");
}

TEST_F(TextFetch, ABrokenConnectionIsBegunAnew) {
  ScriptedServer server{[](const Asked& asked) -> Reply {
    if (asked.number < 2) return {"", Reply::Then::kClose};
    return reply(200, "", "at last");
  }};
  allow(server.rule());
  rules_.retries = 6;
  const auto text = fetch(server.url("/"));
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(text->body, "at last");
}

}  // namespace
}  // namespace hearth::fetcher
