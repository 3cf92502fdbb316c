// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/option_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace hearth::api::ollama {
namespace {

namespace json = boost::json;

// What reading {"options": {…}} gave: the message, and the error if there was one.
struct Outcome {
  wire::GenerateMessage message;
  Fields::FirstError error;

  std::string field() const { return error ? error->field() : ""; }
};

Outcome read(const std::string& options) {
  Outcome outcome;
  const json::object body = json::parse(R"({"options":{)" + options + "}}").as_object();
  read_options(Fields{body, "", outcome.error}, outcome.message);
  return outcome;
}

TEST(OllamaOptions, HonoursWhatItKnows) {
  const Outcome got = read(
      R"("num_predict":7,"num_ctx":512,"num_keep":9,"stop":["a","b"],"seed":3,"temperature":0.5,
         "top_k":5,"top_p":0.4,"min_p":0.1,"typical_p":0.7,"repeat_last_n":8,"repeat_penalty":1.1,
         "presence_penalty":0.2,"frequency_penalty":0.3)");
  ASSERT_EQ(got.field(), "");
  const wire::GenerateMessage& message = got.message;
  EXPECT_EQ(message.max_tokens, 7);
  EXPECT_EQ(message.context_limit, 512);
  EXPECT_EQ(message.keep, 9);
  EXPECT_EQ(message.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(message.sampling.seed, 3U);
  EXPECT_EQ(message.sampling.temperature, 0.5);
  EXPECT_EQ(message.sampling.top_k, 5);
  EXPECT_EQ(message.sampling.top_p, 0.4);
  EXPECT_EQ(message.sampling.min_p, 0.1);
  EXPECT_EQ(message.sampling.typical_p, 0.7);
  EXPECT_EQ(message.sampling.repeat_last_n, 8);
  EXPECT_EQ(message.sampling.repeat_penalty, 1.1);
  EXPECT_EQ(message.sampling.presence_penalty, 0.2);
  EXPECT_EQ(message.sampling.frequency_penalty, 0.3);
}

TEST(OllamaOptions, PredictsUntilTheEnd) {
  EXPECT_EQ(read(R"("num_predict":-1)").message.max_tokens, -1);
  EXPECT_EQ(read(R"("num_predict":-2)").message.max_tokens, -1);
  EXPECT_EQ(read(R"("num_predict":0)").message.max_tokens, -1);
  EXPECT_EQ(read(R"("num_predict":-3)").field(), "options.num_predict");
}

TEST(OllamaOptions, KeepsAllOfThePrompt) {
  EXPECT_EQ(read(R"("num_keep":-1)").message.keep, std::numeric_limits<int>::max());
  EXPECT_EQ(read(R"("num_keep":0)").message.keep, 0);
  EXPECT_EQ(read(R"("num_keep":-2)").field(), "options.num_keep");
}

TEST(OllamaOptions, EachTakesItsNeutralValueAndNull) {
  for (const OptionRule& rule : option_rules()) {
    const std::string name = "\"" + std::string{rule.name} + "\":";
    EXPECT_EQ(read(name + "null").field(), "") << rule.name;
    if (rule.treatment != Treatment::kNeutralOnly) continue;
    EXPECT_EQ(read(name + std::string{rule.neutral}).field(), "") << rule.name;
    EXPECT_FALSE(rule.text.empty()) << rule.name;
  }
}

struct RefusedCase {
  const char* name;
  const char* option;
  const char* field;
  const char* says;
};

class OllamaOptionsRefused : public testing::TestWithParam<RefusedCase> {};
TEST_P(OllamaOptionsRefused, SayWhatToDo) {
  const Outcome got = read(GetParam().option);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code(), ErrorCode::kInvalid);
  EXPECT_EQ(got.field(), GetParam().field);
  EXPECT_NE(got.error->message().find(GetParam().says), std::string::npos) << got.error->message();
}

INSTANTIATE_TEST_SUITE_P(
    Options, OllamaOptionsRefused,
    testing::Values(
        RefusedCase{"Mlock", R"("use_mlock":true)", "options.use_mlock", "hearth pin"},
        RefusedCase{"Threads", R"("num_thread":4)", "options.num_thread", "threads"},
        RefusedCase{"Mmap", R"("use_mmap":false)", "options.use_mmap", "true"},
        RefusedCase{"Gpu", R"("num_gpu":99)", "options.num_gpu", "-1"},
        RefusedCase{"Mirostat", R"("mirostat":2)", "options.mirostat", "min_p"},
        RefusedCase{"Batch", R"("num_batch":"512")", "options.num_batch", "512"},
        RefusedCase{"Unknown", R"("temprature":1)", "options.temprature", "temperature"},
        RefusedCase{"MaxTokens", R"("max_tokens":1)", "options.max_tokens", "did you mean"},
        RefusedCase{"Type", R"("temperature":"hot")", "options.temperature", "number"},
        RefusedCase{"Stop", R"("stop":[1])", "options.stop[0]", "string"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::api::ollama
