// SPDX-License-Identifier: Apache-2.0
#include "fetcher/file_fetch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <set>

#include "base/random.h"
#include "base/sha256.h"
#include "base/temporary_directory.h"
#include "fetcher/testing/scripted_server.h"

namespace hearth::fetcher {
namespace {

using testing::Asked;
using testing::file_reply;
using ::testing::HasSubstr;
using testing::Reply;
using testing::reply;
using testing::ScriptedServer;

constexpr std::uint64_t kPart = 64 << 10;

std::string random_content(std::size_t size) {
  Random random{size};
  std::string content;
  content.reserve(size + 8);
  while (content.size() < size) {
    const std::uint64_t word = random.next();
    content.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  content.resize(size);
  return content;
}

std::string sha256(std::string_view content) { return hex_of(Sha256{}.add(content).finish()); }

class FileFetchTest : public ::testing::Test {
 protected:
  Result<wire::Fetched> fetch(const ScriptedServer& server, const std::string& promised = "") {
    rules_.hosts.push_back(server.rule());
    return fetch({server.url("/file"), {}, promised, Bytes{}});
  }

  Result<wire::Fetched> fetch(const wire::FetchFile& what) {
    Result<HttpSettings> settings =
        HttpSettings::of(rules_, [](const char*) { return std::string{}; });
    if (!settings) return Failed{settings.error()};
    Connections connections{*std::move(settings)};
    FileTarget target{open("data"), open("journal"), geometry_,
                      [this](const wire::Fetching& fetching) { progress_.push_back(fetching); }};
    FileFetch fetch{connections, rules_, std::move(target)};
    return fetch.run(what);
  }
  std::string failure(const Result<wire::Fetched>& fetched) {
    if (fetched) return "fetched";
    return std::string{name_of(fetched.error().code())} + ": " + fetched.error().message();
  }

  std::string data() const {
    std::ifstream file{directory_ / "data", std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  Fd open(const std::string& name) {
    return Fd{::open((directory_ / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  }

  TemporaryDirectory directory_;
  transfer::Geometry geometry_ = [] {
    transfer::Geometry geometry;
    geometry.part = Bytes{kPart};
    geometry.segment = Bytes{2 * kPart};
    geometry.window = Bytes{8 * kPart};
    geometry.cached = Bytes{2 * kPart};
    return geometry;
  }();
  wire::FetchRules rules_ = [] {
    wire::FetchRules rules;
    rules.user_agent = "hearth/test";
    rules.stall_ms = 20'000;
    rules.retry_ms = 1;
    rules.retries = 3;
    return rules;
  }();
  std::vector<wire::Fetching> progress_;
  const std::string content_ = random_content((2 << 20) + 12'345);
  const std::string digest_ = sha256(content_);
};

TEST_F(FileFetchTest, ComesInParallelRanges) {
  ScriptedServer server{[&](const Asked& asked) { return file_reply(asked, content_, "\"v1\""); }};
  server.wait_for_connections(2);
  const auto fetched = fetch(server, digest_);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(fetched->sha256, digest_);
  EXPECT_EQ(fetched->etag, "\"v1\"");
  EXPECT_EQ(fetched->size, Bytes{content_.size()});
  EXPECT_EQ(fetched->received, Bytes{content_.size()});
  EXPECT_EQ(data(), content_);
  EXPECT_GT(server.connections(), 1);
  EXPECT_LE(server.connections(), rules_.connections);
  for (const Asked& asked : server.asked()) EXPECT_TRUE(asked.part(content_.size()).ranged);
}

TEST_F(FileFetchTest, WithoutAPromiseAndWithoutASizeToo) {
  ScriptedServer server{[&](const Asked& asked) { return file_reply(asked, content_, ""); }};
  const auto fetched = fetch(server);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(fetched->sha256, digest_);
  EXPECT_EQ(data(), content_);
}

TEST_F(FileFetchTest, AServerWithoutRangesGivesAStream) {
  ScriptedServer server{[&](const Asked&) { return reply(200, "ETag: \"a\"\r\n", content_); }};
  const auto fetched = fetch(server, digest_);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(data(), content_);
  EXPECT_EQ(server.asked().size(), 1U);
}

TEST_F(FileFetchTest, AStreamMayHaveNoLength) {
  ScriptedServer server{[&](const Asked&) -> Reply {
    return {"HTTP/1.1 200 OK\r\n\r\n" + content_, Reply::Then::kClose};
  }};
  const auto fetched = fetch(server);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(fetched->sha256, digest_);
  EXPECT_EQ(data(), content_);
}

TEST_F(FileFetchTest, AnEmptyFileIsOne) {
  ScriptedServer server{[](const Asked& asked) { return file_reply(asked, "", "\"e\""); }};
  const auto fetched = fetch(server);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(fetched->sha256, sha256(""));
  EXPECT_EQ(fetched->size, Bytes{});
}

TEST_F(FileFetchTest, CutsCostOnlyWhatWasCut) {
  ScriptedServer server{[&](const Asked& asked) {
    Reply whole = file_reply(asked, content_, "\"v1\"");
    if (asked.number % 3 != 1) return whole;
    whole.bytes.resize(whole.bytes.size() / 2);
    whole.then = Reply::Then::kClose;
    return whole;
  }};
  const auto fetched = fetch(server, digest_);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(data(), content_);
  EXPECT_EQ(fetched->received, Bytes{content_.size()});
}

TEST_F(FileFetchTest, WhatIsHereIsNotFetchedAgain) {
  const std::size_t half = content_.size() / 2;
  ScriptedServer server{[&](const Asked& asked) {
    if (asked.part(content_.size()).begin >= half) return reply(403, "", "");
    return file_reply(asked, content_, "\"v1\"");
  }};
  const auto first = fetch(server, digest_);
  EXPECT_EQ(failure(first), "unavailable: " + server.server() + " answered 403 Forbidden");

  ScriptedServer good{[&](const Asked& asked) { return file_reply(asked, content_, "\"v2\""); }};
  const auto second = fetch(good, digest_);
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ(data(), content_);
  EXPECT_LT(second->received.count(), content_.size());
}

TEST_F(FileFetchTest, AnotherVersionIsBegunAnew) {
  const std::string other = random_content(1 << 20);
  std::atomic<bool> changed{false};
  ScriptedServer server{[&](const Asked& asked) {
    if (asked.number == 3) changed = true;
    return changed ? file_reply(asked, other, "\"v2\"") : file_reply(asked, content_, "\"v1\"");
  }};
  const auto fetched = fetch(server);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(fetched->sha256, sha256(other));
  EXPECT_EQ(fetched->etag, "\"v2\"");
  EXPECT_EQ(data(), other);
}

TEST_F(FileFetchTest, AWrongRangeIsNotBelieved) {
  std::atomic<int> lies{0};
  ScriptedServer server{[&](const Asked& asked) {
    if (asked.number % 2 == 0) return file_reply(asked, content_, "\"v1\"");
    ++lies;
    return reply(206, "Content-Range: bytes 5-1004/" + std::to_string(content_.size()) + "\r\n",
                 std::string(1000, 'x'));
  }};
  const auto fetched = fetch(server, digest_);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(data(), content_);
  EXPECT_GT(lies, 0);
}

TEST_F(FileFetchTest, AServerThatOnlyLiesIsGivenUp) {
  ScriptedServer server{
      [&](const Asked&) { return reply(206, "Content-Range: bytes 5-9/1000\r\n", "12345"); }};
  EXPECT_EQ(failure(fetch(server)),
            "unavailable: " + server.server() +
                " sent the bytes 5-9 when those from 0 were asked for; given up after 4 attempts "
                "without any progress");
  EXPECT_EQ(server.asked().size(), 4U);
}

TEST_F(FileFetchTest, ABusyServerIsWaitedFor) {
  ScriptedServer server{[&](const Asked& asked) {
    if (asked.number == 1) return reply(429, "Retry-After: 1\r\n", "");
    if (asked.number == 2) return reply(503, "Retry-After: 0\r\n", "");
    return file_reply(asked, content_, "\"v1\"");
  }};
  rules_.connections = 1;
  const auto fetched = fetch(server, digest_);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(data(), content_);
  const auto waits = [&](const wire::Fetching& fetching) {
    return fetching.note == "waiting 1 s: " + server.server() + " answered 429 Too Many Requests";
  };
  EXPECT_TRUE(std::ranges::any_of(progress_, waits));
}

TEST_F(FileFetchTest, AServerThatBearsOnlyTwoGetsTwo) {
  std::atomic<int> refused{0};
  std::set<std::uint64_t> seen;
  ScriptedServer server{[&](const Asked& asked) {
    if (asked.number == 3 || asked.number == 4) {
      ++refused;
      return reply(503, "", "");
    }
    return file_reply(asked, content_, "");
  }};
  const auto fetched = fetch(server, digest_);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(refused, 2);
}

TEST_F(FileFetchTest, AStallIsGivenUpAndBegunAnew) {
  rules_.stall_ms = 100;
  ScriptedServer server{[&](const Asked& asked) {
    Reply whole = file_reply(asked, content_, "\"v1\"");
    if (asked.number != 2) return whole;
    whole.bytes.resize(whole.bytes.size() / 2);
    whole.then = Reply::Then::kStall;
    return whole;
  }};
  const auto fetched = fetch(server, digest_);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(data(), content_);
}

TEST_F(FileFetchTest, AFlippedByteIsFoundAndMended) {
  std::atomic<bool> flipped{false};
  ScriptedServer server{[&](const Asked& asked) {
    Reply good = file_reply(asked, content_, "\"v1\"");
    const Asked::Part part = asked.part(content_.size());
    if (part.begin >= 4 * kPart && !flipped.exchange(true)) good.bytes.back() ^= 1;
    return good;
  }};
  const auto fetched = fetch(server, digest_);
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(data(), content_);
  EXPECT_GT(fetched->received.count(), content_.size());
}

TEST_F(FileFetchTest, AnotherFileThanPromisedIsCorrupt) {
  ScriptedServer server{[&](const Asked& asked) { return file_reply(asked, content_, "\"v1\""); }};
  const auto fetched = fetch(server, sha256("something else"));
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(fetched.error().message(), HasSubstr(digest_));
}

TEST_F(FileFetchTest, AnotherSizeThanPromisedIsCorrupt) {
  ScriptedServer server{[&](const Asked& asked) { return file_reply(asked, content_, "\"v1\""); }};
  rules_.hosts = {server.rule()};
  const auto fetched = fetch({server.url("/file"), {}, digest_, Bytes{17}});
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code(), ErrorCode::kCorrupt);
}

struct StatusCase {
  int status;
  const char* failure;
};

TEST_F(FileFetchTest, StatusesHaveTheirMeaning) {
  for (const StatusCase& one : {StatusCase{404, "not_found: {} answered 404 Not Found"},
                                StatusCase{410, "not_found: {} answered 410 Gone"},
                                StatusCase{401, "unavailable: {} answered 401 Unauthorized"},
                                StatusCase{302, "unavailable: {} answered 302"},
                                StatusCase{204, "unavailable: {} answered 204"}}) {
    ScriptedServer server{[&](const Asked&) { return reply(one.status, "", ""); }};
    EXPECT_EQ(failure(fetch(server)), fmt::format(fmt::runtime(one.failure), server.server()));
    EXPECT_EQ(server.asked().size(), 1U);
  }
}

TEST_F(FileFetchTest, AServerErrorIsTriedAgainThenGivenUp) {
  ScriptedServer server{[&](const Asked&) { return reply(500, "", ""); }};
  EXPECT_EQ(failure(fetch(server)),
            "unavailable: " + server.server() +
                " answered 500 Internal Server Error; given up after 4 attempts without any "
                "progress");
}

TEST_F(FileFetchTest, WhereARedirectLedIsUsedUntilItExpires) {
  std::atomic<int> given{0};
  ScriptedServer network{[&](const Asked& asked) {
    // Each address is good for five ranges.
    if (asked.path != fmt::format("/signed{}", asked.number / 5)) return reply(403, "", "");
    return file_reply(asked, content_, "\"net\"");
  }};
  ScriptedServer hub{[&](const Asked&) {
    const int at = static_cast<int>(network.asked().size()) / 5;
    ++given;
    return reply(302,
                 fmt::format("Location: {}\r\nX-Linked-ETag: \"{}\"\r\n",
                             network.url(fmt::format("/signed{}", at)), digest_),
                 "");
  }};
  rules_.hosts = {hub.rule(), network.rule()};
  rules_.connections = 1;
  const auto fetched = fetch({hub.url("/file"), {{"Authorization", "Bearer t"}}, digest_, Bytes{}});
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(data(), content_);
  EXPECT_GT(given, 1);
  EXPECT_LT(given, static_cast<int>(network.asked().size()));
  for (const Asked& asked : network.asked()) EXPECT_EQ(asked.field("authorization"), "");
  for (const Asked& asked : hub.asked()) EXPECT_EQ(asked.field("authorization"), "Bearer t");
}

TEST_F(FileFetchTest, TheHubSaysBeforeThatItIsAnotherFile) {
  ScriptedServer hub{[&](const Asked& asked) {
    if (asked.path == "/network") return file_reply(asked, content_, "");
    return reply(302, "Location: /network\r\nX-Linked-ETag: \"" + sha256("other") + "\"\r\n", "");
  }};
  const auto fetched = fetch(hub, digest_);
  EXPECT_THAT(failure(fetched), HasSubstr("corrupt: " + hub.server() + " has another file there"));
}

TEST_F(FileFetchTest, KeepsToARate) {
  ScriptedServer server{[&](const Asked& asked) { return file_reply(asked, content_, "\"v1\""); }};
  rules_.bytes_per_second = Bytes{4'000'000};
  const TimePoint begin = Clock::real().now();
  ASSERT_TRUE(fetch(server, digest_));
  const double seconds = milliseconds_of(Clock::real().now() - begin) / 1000;
  const auto rate = static_cast<double>(content_.size()) / seconds;
  EXPECT_LT(rate, 4'000'000 * 1.35);  // with what may come at once at the beginning
}

TEST_F(FileFetchTest, EncodedContentIsRefused) {
  ScriptedServer server{[&](const Asked&) { return reply(200, "Content-Encoding: br\r\n", "x"); }};
  EXPECT_THAT(failure(fetch(server)), HasSubstr("unsupported: "));
}

TEST_F(FileFetchTest, RefusedHostsAreSaidAtOnce) {
  EXPECT_THAT(failure(fetch({"https://evil.example/x", {}, "", Bytes{}})),
              HasSubstr("invalid: evil.example is not among the hosts"));
  EXPECT_THAT(failure(fetch({"ftp://evil.example/x", {}, "", Bytes{}})), HasSubstr("invalid: "));
}

}  // namespace
}  // namespace hearth::fetcher
