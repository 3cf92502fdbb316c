// SPDX-License-Identifier: Apache-2.0
#include "traces/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <deque>

#include "base/json.h"
#include "base/sim_event_loop.h"

namespace hearth::traces {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

class ExporterTest : public ::testing::Test {
 protected:
  ExporterTest() {
    Settings settings;
    settings.endpoint = "http://collector/v1/traces";
    settings.headers = {{"x-key", "k"}};
    exporter_.set(settings);
    exporter_.start();
    loop_.run_ready();
  }
  ~ExporterTest() override { stop(); }

  static RequestReport report(const std::string& id) {
    RequestReport report;
    report.request_id = id;
    report.trace.emplace();
    report.trace->context.trace.bytes[0] = 1;
    report.trace->context.span.bytes[0] = 1;
    report.trace->context.sampled = true;
    return report;
  }

  void add(int requests) {
    for (int i = 0; i < requests; ++i) exporter_.add(report("r" + std::to_string(next_++)));
  }

  void stop() {
    if (std::exchange(stopped_, true)) return;
    loop_.spawn(exporter_.stop());
    loop_.run_for(10s);
  }

  // What the collector says next; when nothing is left, 200.
  Result<PostAnswer> take(const Post& post) {
    posts_.push_back(post);
    times_.push_back(loop_.now());
    if (answers_.empty()) return PostAnswer{.status = 200};
    Result<PostAnswer> answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }

  static Failed gone() { return fail(ErrorCode::kUnavailable, "connect: refused"); }

  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  std::deque<Result<PostAnswer>> answers_;
  std::vector<Post> posts_;
  std::vector<TimePoint> times_;
  Exporter exporter_{{loop_, pool_, [this](const Post& post) { return take(post); }, 5, "1.2"}};
  int next_ = 0;
  bool stopped_ = false;
};

TEST_F(ExporterTest, SendsTogetherWhatComesTogether) {
  add(2);
  loop_.run_for(500ms);
  add(1);
  EXPECT_EQ(exporter_.figures().waiting, 3);
  EXPECT_THAT(posts_, SizeIs(0));
  loop_.run_for(2s);
  ASSERT_THAT(posts_, SizeIs(1));
  EXPECT_EQ(posts_[0].endpoint, "http://collector/v1/traces");
  EXPECT_THAT(posts_[0].headers, Contains(Pair("x-key", "k")));
  EXPECT_THAT(posts_[0].headers, Contains(Pair("Content-Type", "application/json")));
  EXPECT_TRUE(parse_json(posts_[0].body));
  for (const char* id : {"\"r0\"", "\"r1\"", "\"r2\""}) EXPECT_THAT(posts_[0].body, HasSubstr(id));
  EXPECT_EQ(exporter_.figures().sent, 3u);
  EXPECT_EQ(exporter_.figures().waiting, 0);
}

TEST_F(ExporterTest, ALargeBatchGoesAtOnceAndIsBounded) {
  add(Exporter::kLargestBatch + 1);
  loop_.run_ready();
  EXPECT_THAT(posts_, SizeIs(1));
  loop_.run_for(2s);
  EXPECT_THAT(posts_, SizeIs(2));
  EXPECT_EQ(exporter_.figures().sent, Exporter::kLargestBatch + 1);
}

TEST_F(ExporterTest, TakesOnlyWhatIsSampled) {
  RequestReport unsampled = report("u");
  unsampled.trace->context.sampled = false;
  exporter_.add(unsampled);
  exporter_.add(RequestReport{});
  loop_.run_for(5s);
  EXPECT_THAT(posts_, SizeIs(0));
}

TEST_F(ExporterTest, TriesAgainWithTheSameBody) {
  answers_.emplace_back(gone());
  answers_.emplace_back(PostAnswer{.status = 503});
  add(1);
  loop_.run_for(60s);
  ASSERT_THAT(posts_, SizeIs(3));
  EXPECT_EQ(posts_[0].body, posts_[2].body);
  EXPECT_LE(times_[1] - times_[0], 1s);
  EXPECT_GE(times_[2] - times_[1], 1600ms);
  EXPECT_EQ(exporter_.figures().sent, 1u);
  EXPECT_EQ(exporter_.figures().failures, 2u);
}

TEST_F(ExporterTest, ComesBackWhenTheCollectorSays) {
  answers_.emplace_back(PostAnswer{.status = 429, .retry_after = "40"});
  add(1);
  loop_.run_for(100s);
  ASSERT_THAT(posts_, SizeIs(2));
  EXPECT_EQ(times_[1] - times_[0], 40s);
}

TEST_F(ExporterTest, DoesNotRepeatWhatIsRefused) {
  answers_.emplace_back(PostAnswer{.status = 400});
  add(2);
  loop_.run_for(100s);
  EXPECT_THAT(posts_, SizeIs(1));
  EXPECT_EQ(exporter_.figures().refused, 2u);
  add(1);
  loop_.run_for(10s);
  EXPECT_EQ(exporter_.figures().sent, 1u);
}

TEST_F(ExporterTest, CountsRejectedSpans) {
  answers_.emplace_back(
      PostAnswer{.status = 200, .body = R"({"partialSuccess":{"rejectedSpans":"2"}})"});
  add(1);
  loop_.run_for(10s);
  EXPECT_EQ(exporter_.figures().sent, 1u);
  EXPECT_EQ(exporter_.figures().rejected_spans, 2u);
}

TEST_F(ExporterTest, KeepsTheLatestWhileNobodyTakesThem) {
  for (int i = 0; i < 100; ++i) answers_.emplace_back(gone());
  add(1);
  loop_.run_for(2s);  // the first is in hand
  add(Exporter::kMostWaiting + 10);
  EXPECT_EQ(exporter_.figures().dropped, 10u);
  EXPECT_EQ(exporter_.figures().waiting, static_cast<int>(Exporter::kMostWaiting) + 1);
  answers_.clear();
  loop_.run_for(120s);
  EXPECT_EQ(exporter_.figures().sent, Exporter::kMostWaiting + 1);
  EXPECT_THAT(posts_.back().body, HasSubstr("\"r1034\""));
  for (const Post& post : posts_) EXPECT_THAT(post.body, Not(HasSubstr("\"r5\"")));
}

TEST_F(ExporterTest, SendsTheRestAtAStop) {
  add(Exporter::kLargestBatch * 2 + 1);
  stop();
  EXPECT_EQ(exporter_.figures().sent, Exporter::kLargestBatch * 2 + 1);
  EXPECT_LE(loop_.now() - times_.back(), 10s);
}

TEST_F(ExporterTest, AStopDoesNotWaitForACollectorThatIsGone) {
  for (int i = 0; i < 100; ++i) answers_.emplace_back(gone());
  add(Exporter::kLargestBatch + 1);
  loop_.run_for(20s);
  const std::size_t tried = posts_.size();
  stop();
  EXPECT_EQ(posts_.size(), tried);
  EXPECT_EQ(exporter_.figures().sent, 0u);
}

TEST_F(ExporterTest, NewSettingsAreTriedAtOnce) {
  for (int i = 0; i < 100; ++i) answers_.emplace_back(gone());
  add(1);
  loop_.run_for(100s);
  answers_.clear();
  Settings other;
  other.endpoint = "http://other/v1/traces";
  exporter_.set(other);
  loop_.run_ready();
  EXPECT_EQ(posts_.back().endpoint, "http://other/v1/traces");
  EXPECT_EQ(exporter_.figures().sent, 1u);
}

TEST_F(ExporterTest, WithoutAnEndpointNothingIsKept) {
  for (int i = 0; i < 100; ++i) answers_.emplace_back(gone());
  add(1);
  loop_.run_for(3s);
  add(2);
  exporter_.set({});
  EXPECT_FALSE(exporter_.on());
  add(4);
  loop_.run_for(100s);
  EXPECT_EQ(exporter_.figures().dropped, 3u);
  EXPECT_EQ(exporter_.figures().waiting, 0);
}

}  // namespace
}  // namespace hearth::traces
