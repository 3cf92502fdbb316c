// SPDX-License-Identifier: Apache-2.0
#include "traces/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::traces {
namespace {

using namespace std::chrono_literals;
using Fate = Judgement::Fate;
using ::testing::HasSubstr;

PostAnswer answer(int status, std::string body = "", std::optional<std::string> retry = {}) {
  return {status, std::move(retry), std::move(body)};
}

TEST(Judgement, GoesByTheStatus) {
  for (const int status : {200, 202, 204}) EXPECT_EQ(judge(answer(status)).fate, Fate::kTaken);
  for (const int status : {429, 502, 503, 504}) {
    EXPECT_EQ(judge(answer(status)).fate, Fate::kLater) << status;
  }
  for (const int status : {301, 400, 401, 404, 405, 413, 500, 501, 505}) {
    EXPECT_EQ(judge(answer(status)).fate, Fate::kRefused) << status;
  }
}

TEST(Judgement, AConnectionThatFailsIsTriedAgain) {
  const Judgement refused = judge(fail(ErrorCode::kUnavailable, "connect to x: refused"));
  EXPECT_EQ(refused.fate, Fate::kLater);
  EXPECT_EQ(refused.reason, "connect to x: refused");
  EXPECT_EQ(judge(fail(ErrorCode::kInvalid, "no address")).fate, Fate::kRefused);
}

TEST(Judgement, WaitsAsLongAsItIsAsked) {
  EXPECT_EQ(judge(answer(503, "", "7")).wait, Duration{7s});
  EXPECT_EQ(judge(answer(429, "", "0")).wait, Duration{0s});
  EXPECT_EQ(judge(answer(429, "", "86400")).wait, Duration{300s});
  EXPECT_FALSE(judge(answer(429, "", "Wed, 21 Oct 2026 07:28:00 GMT")).wait);
  EXPECT_FALSE(judge(answer(429, "", "-1")).wait);
  EXPECT_FALSE(judge(answer(503)).wait);
}

TEST(Judgement, CountsWhatWasRejected) {
  const Judgement some =
      judge(answer(200, R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"too\nold"}})"));
  EXPECT_EQ(some.fate, Fate::kTaken);
  EXPECT_EQ(some.rejected_spans, 3u);
  EXPECT_EQ(some.reason, "too old");
  EXPECT_EQ(judge(answer(200, R"({"partialSuccess":{"rejectedSpans":2}})")).rejected_spans, 2u);
  for (const char* nothing : {"", "{}", "ok", R"({"partialSuccess":{}})", R"({"partialSuccess":1})",
                              R"({"partialSuccess":{"rejectedSpans":"many"}})"}) {
    EXPECT_EQ(judge(answer(200, nothing)).rejected_spans, 0u) << nothing;
  }
}

TEST(Judgement, AReasonIsOneShortLine) {
  const std::string reason = judge(answer(400, "a\r\nb" + std::string(1000, 'x'))).reason;
  EXPECT_THAT(reason, HasSubstr("HTTP 400 a  b"));
  EXPECT_LE(reason.size(), 200u);
}

TEST(Backoff, Doubles) {
  Random random{3};
  Duration least{};
  for (int failures = 1; failures <= 7; ++failures) {
    const Duration whole = 1s * (1 << (failures - 1));
    const Duration wait = backoff(failures, random);
    EXPECT_LE(wait, whole);
    EXPECT_GE(wait, whole * 8 / 10);
    EXPECT_GT(wait, least);
    least = wait;
  }
  EXPECT_LE(backoff(1000, random), Duration{64s});
}

}  // namespace
}  // namespace hearth::traces
