// SPDX-License-Identifier: Apache-2.0
#include "worker/template_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/test_models.h"
#include "worker/test_front.h"

namespace hearth::worker {
namespace {

using test::greedy;
using test::Reply;
using test::TestFront;

constexpr const char* kShort = "{% for m in messages %}{{ m.content }} {% endfor %}";

wire::GenerateMessage hello(std::string chat_template) {
  wire::GenerateMessage message = greedy("", 1);
  message.messages = R"([{"role":"user","content":"Hello"}])";
  message.chat_template = std::move(chat_template);
  message.count_only = true;
  return message;
}

class Templates : public testing::Test {
 protected:
  std::size_t count(const wire::GenerateMessage& message) {
    const Reply reply = front_.generate(message);
    EXPECT_FALSE(reply.failed) << reply.failed->message;
    return reply.tokenized.tokens.size();
  }
  TestFront front_;
};

TEST_F(Templates, TakeThePlaceOfTheModelsOwn) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  front_.open(path, {});
  const std::size_t own = count(hello(""));
  const std::size_t brought = count(hello(kShort));
  EXPECT_LT(brought, own);
  EXPECT_EQ(count(hello("")), own);
  wire::GenerateMessage shortened = hello(kShort);
  shortened.truncate = true;
  EXPECT_EQ(count(shortened), brought);
}

TEST_F(Templates, AreManyAtOnce) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  front_.open(path, {});
  const std::size_t first = count(hello(kShort));
  for (int i = 0; i < 20; ++i) count(hello(fmt::format("{} {}", kShort, i)));
  EXPECT_EQ(count(hello(kShort)), first);
}

TEST_F(Templates, AreRefusedWhenTheyMakeNoSense) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  front_.open(path, {});
  const Reply reply = front_.generate(hello("{% for m in messages %}{{ m.content }}"));
  ASSERT_TRUE(reply.failed);
  EXPECT_EQ(reply.failed->code, "invalid");
  EXPECT_EQ(reply.failed->field, "template");
}

TEST_F(Templates, AreNothingToARawPrompt) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  front_.open(path, {});
  wire::GenerateMessage raw = greedy("Hello", 1);
  raw.count_only = true;
  const std::size_t own = count(raw);
  raw.chat_template = "{% this is not one";
  EXPECT_EQ(count(raw), own);
}

}  // namespace
}  // namespace hearth::worker
