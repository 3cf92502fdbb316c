// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/api.h"
#include "api/implied_model.h"
#include "api/llama_server/props_json.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api::llama_server {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeService;

class LlamaServer : public ::testing::Test {
 protected:
  void start(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }
  json::value ask(FakeExchange exchange) {
    start(exchange);
    EXPECT_EQ(exchange.status, 200) << exchange.body;
    return json::parse(exchange.body);
  }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

TEST_F(LlamaServer, Tokenizes) {
  FakeExchange exchange{"POST", "/tokenize", R"({"content":"hi"})"};
  start(exchange);
  EXPECT_EQ(service.generated.context.model, "smol:latest");
  EXPECT_EQ(service.generated.message.prompt, "hi");
  EXPECT_FALSE(service.generated.message.add_special);
  EXPECT_TRUE(service.generated.message.count_only);
  front::Finished end;
  end.reason = "counted";
  end.tokens = {1, 22, 3};
  service.record.events.push(std::move(end));
  loop.run_ready();
  EXPECT_EQ(exchange.body, R"({"tokens":[1,22,3]})");
  EXPECT_EQ(service.record.sent, 200);
}

TEST_F(LlamaServer, AnEmptyTextHasNoTokens) {
  EXPECT_EQ(ask({"POST", "/tokenize", R"({"content":""})"}), json::parse(R"({"tokens":[]})"));
}

struct Refusal {
  const char* body;
  const char* field;
};

class TokenizeRefusals : public LlamaServer, public ::testing::WithParamInterface<Refusal> {};

TEST_P(TokenizeRefusals, NamesTheField) {
  FakeExchange exchange{"POST", "/tokenize", GetParam().body};
  start(exchange);
  EXPECT_EQ(exchange.status, 400);
  EXPECT_EQ(json::parse(exchange.body).at("error").at("param"), json::value(GetParam().field));
}

INSTANTIATE_TEST_SUITE_P(
    Tokenize, TokenizeRefusals,
    ::testing::Values(Refusal{"{}", "content"}, Refusal{R"({"content":[1]})", "content"},
                      Refusal{R"({"content":"a","with_pieces":true})", "with_pieces"},
                      Refusal{R"({"content":"a","parse_special":false})", "parse_special"}));

TEST_F(LlamaServer, PropsTellTheModelsOwn) {
  service.model_details.chat_template = "{{ messages }}";
  service.catalogue.front().settings.parameters = R"({"temperature":0.25})";
  const json::value props = ask({"GET", "/props"});
  EXPECT_EQ(props.at("chat_template"), json::value("{{ messages }}"));
  EXPECT_EQ(props.at("model_alias"), json::value("smol:latest"));
  EXPECT_EQ(props.at("is_sleeping"), json::value(false));
  EXPECT_EQ(props.at("default_generation_settings").at("params").at("temperature").as_double(),
            0.25);
}

TEST_F(LlamaServer, SlotsAreNoneWithoutAWorker) {
  EXPECT_EQ(ask({"GET", "/slots"}), json::array{});
}

TEST(Slots, AreThoseOfTheModel) {
  const std::string view = R"({"models":[{"model":"a","slots":[{"tokens":5,"busy":true}]},
      {"model":"b","slots":[{"tokens":7,"busy":false},{"tokens":0,"busy":true}]}]})";
  const auto slots = slots_of(view, "b");
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(slots[0].tokens, 7);
  EXPECT_TRUE(slots[1].busy);
  EXPECT_TRUE(slots_of(view, "c").empty());
  front::ModelStatus model;
  model.name = "b";
  model.trained_context = 64;
  EXPECT_EQ(slots_json(model, {{7, true}}),
            R"([{"id":0,"n_ctx":64,"speculative":false,"is_processing":true,"n_cached":7,)"
            R"("model":"b"}])");
}

TEST_F(LlamaServer, TheModelMayBeImplied) {
  EXPECT_EQ(*implied_model(service, "x"), "x");
  EXPECT_EQ(*implied_model(service, {}), "smol:latest");
  front::ModelStatus second = service.catalogue.front();
  second.name = "two:latest";
  service.catalogue.push_back(second);
  EXPECT_EQ(implied_model(service, {}).error().field(), "model");
  service.catalogue.back().layers.front().level = "none";
  EXPECT_EQ(*implied_model(service, {}), "smol:latest");
}

}  // namespace
}  // namespace hearth::api::llama_server
