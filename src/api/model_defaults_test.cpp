// SPDX-License-Identifier: Apache-2.0
#include "api/model_defaults.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeService;

constexpr const char* kAll = R"({"temperature":0.1,"top_p":0.2,"top_k":3,"min_p":0.4,
    "typical_p":0.5,"repeat_penalty":1.6,"presence_penalty":0.7,"frequency_penalty":0.8,
    "repeat_last_n":9,"seed":10,"stop":["x","y"],"num_predict":11,"num_ctx":12,"num_keep":13})";

TEST(ModelDefaults, TakesAllParametersThereAre) {
  wire::GenerateMessage message;
  apply_parameters({"", kAll, "", "", ""}, message);
  const wire::Sampling& sampling = message.sampling;
  EXPECT_DOUBLE_EQ(sampling.temperature, 0.1);
  EXPECT_DOUBLE_EQ(sampling.top_p, 0.2);
  EXPECT_EQ(sampling.top_k, 3);
  EXPECT_DOUBLE_EQ(sampling.min_p, 0.4);
  EXPECT_DOUBLE_EQ(sampling.typical_p, 0.5);
  EXPECT_DOUBLE_EQ(sampling.repeat_penalty, 1.6);
  EXPECT_DOUBLE_EQ(sampling.presence_penalty, 0.7);
  EXPECT_DOUBLE_EQ(sampling.frequency_penalty, 0.8);
  EXPECT_EQ(sampling.repeat_last_n, 9);
  EXPECT_EQ(sampling.seed, 10U);
  EXPECT_EQ(message.stop, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(message.max_tokens, 11);
  EXPECT_EQ(message.context_limit, 12);
  EXPECT_EQ(message.keep, 13);
}

TEST(ModelDefaults, PassOverWhatMakesNoSense) {
  for (const char* parameters :
       {"", "{}", "[", "[1]", R"({"temperature":"hot","num_gpu":99,"top_k":-7,"stop":[1],"what":1,
                                  "logit_bias":{"1":5}})"}) {
    wire::GenerateMessage message;
    message.stop = {"old"};
    apply_parameters({"", parameters, "", "", ""}, message);
    EXPECT_DOUBLE_EQ(message.sampling.temperature, wire::Sampling{}.temperature);
    EXPECT_EQ(message.sampling.top_k, wire::Sampling{}.top_k);
    EXPECT_TRUE(message.sampling.logit_bias.empty());
    EXPECT_EQ(message.stop, std::vector<std::string>{"old"});
  }
  wire::GenerateMessage message;
  apply_parameters({"", R"({"temperature":"hot","top_p":0.2})", "", "", ""}, message);
  EXPECT_DOUBLE_EQ(message.sampling.top_p, 0.2) << "the good ones count";
}

struct BeginCase {
  const char* name;
  const char* system;
  const char* own;
  const char* given;
  const char* result;
};
class Conversations : public ::testing::TestWithParam<BeginCase> {};

TEST_P(Conversations, Begin) {
  wire::GenerateMessage message;
  message.messages = GetParam().given;
  begin_conversation({GetParam().system, "", "", "", GetParam().own}, message);
  EXPECT_EQ(message.messages, GetParam().result);
}

#define SYSTEM(text) "{\"role\":\"system\",\"content\":\"" text "\"}"
#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
INSTANTIATE_TEST_SUITE_P(
    Model, Conversations,
    ::testing::Values(BeginCase{"AsItIs", "", "", "[" USER("a") "]", "[" USER("a") "]"},
                      BeginCase{"None", "s", "", "", ""},
                      BeginCase{"System", "s", "", "[" USER("a") "]",
                                "[" SYSTEM("s") "," USER("a") "]"},
                      BeginCase{"ClientsSystem", "s", "", "[" SYSTEM("c") "," USER("a") "]",
                                "[" SYSTEM("c") "," USER("a") "]"},
                      BeginCase{"LateSystem", "s", "", "[" USER("a") "," SYSTEM("c") "]",
                                "[" USER("a") "," SYSTEM("c") "]"},
                      BeginCase{"Messages", "s", "[" USER("m") "]", "[" USER("a") "]",
                                "[" SYSTEM("s") "," USER("m") "," USER("a") "]"},
                      BeginCase{"MessagesBehindSystem", "", "[" SYSTEM("o") "," USER("m") "]",
                                "[" SYSTEM("c") "," USER("a") "]",
                                "[" SYSTEM("c") "," USER("m") "," USER("a") "]"},
                      BeginCase{"SystemOfMessages", "", "[" SYSTEM("o") "]", "[" USER("a") "]",
                                "[" SYSTEM("o") "," USER("a") "]"}),
    [](const auto& test) { return test.param.name; });
#undef SYSTEM
#undef USER

// Each dialect's own default, the model's over it, the client's over both.
struct DialectCase {
  const char* name;
  const char* path;
  const char* body;  // without its braces
  const char* said;  // the same parameters, by the client
  double dialects_top_p;
};
class Dialects : public ::testing::TestWithParam<DialectCase> {
 protected:
  wire::GenerateMessage sent(const std::string& more) {
    FakeExchange exchange{"POST", GetParam().path, "{" + std::string{GetParam().body} + more + "}"};
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
    EXPECT_EQ(exchange.answers, 0) << exchange.body;
    wire::GenerateMessage message = service.generated.message;
    exchange.leave();
    loop.run_ready();
    return message;
  }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

TEST_P(Dialects, HaveTheModelsDefaultsBetweenTheirsAndTheClients) {
  EXPECT_DOUBLE_EQ(sent("").sampling.top_p, GetParam().dialects_top_p);
  ModelSettings& settings = service.catalogue.front().settings;
  settings.parameters = R"({"temperature":0.1,"top_p":0.2,"stop":["x"],"num_ctx":12,"what":1})";
  settings.system = "be kind";
  const wire::GenerateMessage by_model = sent("");
  EXPECT_DOUBLE_EQ(by_model.sampling.top_p, 0.2);
  EXPECT_EQ(by_model.stop, std::vector<std::string>{"x"});
  EXPECT_EQ(by_model.context_limit, 12);
  const bool has_turns = !by_model.messages.empty();
  EXPECT_EQ(by_model.messages.find("be kind") != std::string::npos, has_turns);
  const wire::GenerateMessage by_client = sent(GetParam().said);
  EXPECT_DOUBLE_EQ(by_client.sampling.top_p, 0.9);
  EXPECT_DOUBLE_EQ(by_client.sampling.temperature, 0.1);
  EXPECT_EQ(by_client.stop, std::vector<std::string>{"z"});
}

INSTANTIATE_TEST_SUITE_P(
    All, Dialects,
    ::testing::Values(
        DialectCase{"OpenAiChat", "/v1/chat/completions",
                    R"("model":"smol","messages":[{"role":"user","content":"a"}])",
                    R"(,"top_p":0.9,"stop":"z")", 0.95},
        DialectCase{"OpenAiText", "/v1/completions", R"("model":"smol","prompt":"a")",
                    R"(,"top_p":0.9,"stop":"z")", 0.95},
        DialectCase{"Anthropic", "/v1/messages",
                    R"("model":"smol","max_tokens":5,"messages":[{"role":"user","content":"a"}])",
                    R"(,"top_p":0.9,"stop_sequences":["z"])", 0.95},
        DialectCase{"OllamaChat", "/api/chat",
                    R"("model":"smol","messages":[{"role":"user","content":"a"}])",
                    R"(,"options":{"top_p":0.9,"stop":["z"]})", 0.9},
        DialectCase{"OllamaGenerate", "/api/generate", R"("model":"smol","prompt":"a")",
                    R"(,"options":{"top_p":0.9,"stop":["z"]})", 0.9}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::api
