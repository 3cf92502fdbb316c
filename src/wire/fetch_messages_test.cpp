// SPDX-License-Identifier: Apache-2.0
#include "wire/fetch_messages.h"

#include <gtest/gtest.h>

#include "wire/frame_header.h"

namespace hearth::wire {
namespace {

const std::string kDigest(64, 'a');

TEST(FetchMessages, RulesComeBack) {
  FetchRules m;
  m.hosts = {"huggingface.co", "http://nas.lan:8080"};
  m.user_agent = "hearth/1 (\"quoted\")";
  m.connections = 7;
  m.bytes_per_second = Bytes{std::uint64_t{1} << 40};
  m.stall_ms = 12;
  m.retries = 0;
  m.retry_ms = 3;
  const auto decoded = decode_fetch_rules(encode(m));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->hosts, m.hosts);
  EXPECT_EQ(decoded->user_agent, m.user_agent);
  EXPECT_EQ(decoded->connections, 7);
  EXPECT_EQ(decoded->bytes_per_second, m.bytes_per_second);
  EXPECT_EQ(decoded->stall_ms, 12);
  EXPECT_EQ(decoded->retries, 0);
  EXPECT_EQ(decoded->retry_ms, 3);
}

TEST(FetchMessages, RequestsComeBack) {
  const FetchText text{"https://a.example/x", {{"authorization", "Bearer t"}}, Bytes{1000}};
  const auto text_again = decode_fetch_text(encode(text));
  ASSERT_TRUE(text_again) << text_again.error().message();
  EXPECT_EQ(text_again->url, text.url);
  EXPECT_EQ(text_again->headers, text.headers);
  EXPECT_EQ(text_again->limit, text.limit);

  const FetchFile file{"https://a.example/y", {{"x", ""}}, kDigest, Bytes{77}};
  const auto file_again = decode_fetch_file(encode(file));
  ASSERT_TRUE(file_again) << file_again.error().message();
  EXPECT_EQ(file_again->url, file.url);
  EXPECT_EQ(file_again->headers, file.headers);
  EXPECT_EQ(file_again->sha256, kDigest);
  EXPECT_EQ(file_again->size, Bytes{77});
}

TEST(FetchMessages, AnyBodyComesBackByteForByte) {
  FetchedText m;
  m.status = 404;
  m.headers = {{"etag", "\"x\ny\""}};
  m.url = "https://b.example/";
  for (const std::string& body : {std::string{}, std::string{"{\"a\":\n1}"},
                                  std::string{"\0\xff\n\x80", 4}, std::string{"\n\n"}}) {
    m.body = body;
    const auto decoded = decode_fetched_text(encode(m));
    ASSERT_TRUE(decoded) << decoded.error().message();
    EXPECT_EQ(decoded->status, 404);
    EXPECT_EQ(decoded->headers, m.headers);
    EXPECT_EQ(decoded->url, m.url);
    EXPECT_EQ(decoded->body, body);
  }
}

TEST(FetchMessages, ProgressAndEndComeBack) {
  const Fetching fetching{"download", Bytes{1}, Bytes{2}, Bytes{3}, 4, "waiting 8 s"};
  const auto again = decode_fetching(encode(fetching));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->stage, "download");
  EXPECT_EQ(again->done, Bytes{1});
  EXPECT_EQ(again->total, Bytes{2});
  EXPECT_EQ(again->received, Bytes{3});
  EXPECT_EQ(again->connections, 4);
  EXPECT_EQ(again->note, "waiting 8 s");

  const Fetched fetched{kDigest, "\"e\"", Bytes{5}, Bytes{6}};
  const auto end = decode_fetched(encode(fetched));
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(end->sha256, kDigest);
  EXPECT_EQ(end->etag, "\"e\"");
  EXPECT_EQ(end->size, Bytes{5});
  EXPECT_EQ(end->received, Bytes{6});
}

TEST(FetchMessages, WhatIsWrongIsNamed) {
  const auto message_of = [](const auto& decoded) {
    return decoded ? std::string{"accepted"} : decoded.error().message();
  };
  EXPECT_EQ(message_of(decode_fetch_rules(R"({"connections":0})")),
            "connections: a whole number from 1 to 64 was expected");
  EXPECT_EQ(message_of(decode_fetch_text(R"({"url":"x"})")), "limit: is missing");
  EXPECT_EQ(message_of(decode_fetch_text(R"({"url":"x","limit":33554433})")),
            "limit: at most 32 MiB was expected");
  EXPECT_EQ(message_of(decode_fetch_file(R"({"url":"x","sha256":"AB"})")),
            "sha256: 64 lower-case hexadecimal digits was expected");
  EXPECT_EQ(message_of(decode_fetch_file(R"({"url":"x","headers":[{"value":"v"}]})")),
            "headers[0].name: is missing");
  EXPECT_EQ(message_of(decode_fetched_text(R"({"status":200})")), "body: is missing");
  EXPECT_EQ(message_of(decode_fetched_text("{\"status\":1}\n")),
            "status: a whole number from 100 to 999 was expected");
  EXPECT_EQ(message_of(decode_fetching("{}")), "stage: is missing");
  EXPECT_EQ(message_of(decode_fetched("[]")), "a JSON object was expected");
}

TEST(FetchMessages, TheirFramesExist) {
  for (const FrameType type :
       {FrameType::kFetchRules, FrameType::kFetchText, FrameType::kFetchFile,
        FrameType::kFetchedText, FrameType::kFetching, FrameType::kFetched}) {
    FrameHeader header;
    header.type = type;
    const auto bytes = header.encode();
    EXPECT_TRUE(FrameHeader::decode({bytes.data(), bytes.size()}));
  }
}

}  // namespace
}  // namespace hearth::wire
