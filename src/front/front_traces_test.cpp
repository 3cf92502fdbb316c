// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <mutex>

#include "front/testing/whole_front.h"

namespace hearth::front {
namespace {

using ::testing::SizeIs;

class FrontTraces : public testing::WholeFront {
 protected:
  // What one request's report and the collector know of it.
  static Task<void> ask(FrontTraces* test, std::optional<TraceContext> parent) {
    GenerateRequest request;
    request.context.model = "tiny";
    request.context.api = "openai";
    request.context.path = "/v1/completions";
    request.context.first_byte = test->loop_->now();
    request.context.trace_parent = std::move(parent);
    request.message.prompt = "hello";
    auto reply = test->service_->generate(std::move(request), Delivery::kWhole);
    bool over = false;
    while (!over) {
      const Event event = co_await reply->next();
      over = std::holds_alternative<Finished>(event) || std::holds_alternative<Refused>(event);
    }
    test->trace_ = reply->trace();
    reply->sent(200);
  }

  std::vector<std::string> posts() {
    const std::lock_guard lock{mutex_};
    return posts_;
  }

  void collect() {
    post_traces_ = [this](const traces::Post& post) -> Result<traces::PostAnswer> {
      const std::lock_guard lock{mutex_};
      posts_.push_back(post.body);
      return traces::PostAnswer{.status = 200};
    };
    config_.traces_endpoint = "http://collector";
  }

  std::optional<RequestTrace> trace_;
  std::mutex mutex_;
  std::vector<std::string> posts_;
};

TEST_F(FrontTraces, TellTheCollectorOfARequest) {
  collect();
  open();
  run(ask(this, std::nullopt));
  ASSERT_TRUE(trace_);
  ASSERT_THAT(posts(), SizeIs(1));
  const auto body = boost::json::parse(posts()[0]);
  const auto& spans = body.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array();
  EXPECT_EQ(spans.at(0).at("traceId"), hex_of(trace_->context.trace).c_str());
  EXPECT_EQ(spans.at(0).at("spanId"), hex_of(trace_->context.span).c_str());
  EXPECT_GT(spans.size(), 3u);
}

TEST_F(FrontTraces, GoOnWithTheAskersAndKeepItsWish) {
  collect();
  open();
  const auto parent = parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
  run(ask(this, parent));
  ASSERT_TRUE(trace_);
  EXPECT_EQ(trace_->context.trace, parent->trace);
  EXPECT_EQ(trace_->parent, parent->span);
  EXPECT_THAT(posts(), SizeIs(0));
}

TEST_F(FrontTraces, AreNothingWithoutACollector) {
  open();
  run(ask(this, std::nullopt));
  EXPECT_FALSE(trace_);
}

}  // namespace
}  // namespace hearth::front
