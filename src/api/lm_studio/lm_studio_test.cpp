// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/api.h"
#include "api/lm_studio/model_json.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api::lm_studio {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeService;

class LmStudio : public ::testing::Test {
 protected:
  void start(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

TEST_F(LmStudio, ListsModelsWithTheirInstances) {
  FakeExchange exchange{"GET", "/api/v1/models"};
  start(exchange);
  const json::value body = json::parse(exchange.body);
  const json::value& model = body.at("models").at(0);
  EXPECT_EQ(model.at("key"), json::value("smol:latest"));
  EXPECT_EQ(model.at("type"), json::value("llm"));
  EXPECT_EQ(model.at("loaded_instances").at(0).at("id"), json::value("smol:latest"));
  EXPECT_EQ(exchange.body.find("/secret"), std::string::npos);
}

TEST_F(LmStudio, Loads) {
  FakeExchange exchange{"POST", "/api/v1/models/load",
                        R"({"model":"smol","ttl":60,"echo_load_config":true})"};
  start(exchange);
  EXPECT_EQ(service.called, "load smol");
  EXPECT_TRUE(service.loaded.context.keep_alive.has_value());
  service.record.events.push(front::Finished{});
  loop.run_ready();
  EXPECT_EQ(exchange.status, 200) << exchange.body;
  const json::value body = json::parse(exchange.body);
  EXPECT_EQ(body.at("instance_id"), json::value("smol:latest"));
  EXPECT_EQ(body.at("status"), json::value("loaded"));
  EXPECT_TRUE(body.as_object().contains("load_config"));
}

TEST_F(LmStudio, Unloads) {
  FakeExchange exchange{"POST", "/api/v1/models/unload", R"({"instance_id":"smol"})"};
  start(exchange);
  EXPECT_EQ(service.called, "unload smol");
  EXPECT_EQ(exchange.body, R"({"instance_id":"smol:latest"})");
}

struct Refusal {
  const char* path;
  const char* body;
  const char* field;
};

class LmStudioRefusals : public LmStudio, public ::testing::WithParamInterface<Refusal> {};

TEST_P(LmStudioRefusals, NamesTheField) {
  FakeExchange exchange{"POST", GetParam().path, GetParam().body};
  start(exchange);
  EXPECT_EQ(exchange.status, 400) << exchange.body;
  EXPECT_EQ(json::parse(exchange.body).at("error").at("param"), json::value(GetParam().field));
}

INSTANTIATE_TEST_SUITE_P(
    LmStudio, LmStudioRefusals,
    ::testing::Values(Refusal{"/api/v1/models/load", "{}", "model"},
                      Refusal{"/api/v1/models/load", R"({"model":"smol","context_length":5})",
                              "context_length"},
                      Refusal{"/api/v1/models/load", R"({"model":"smol","flash_attention":true})",
                              "flash_attention"},
                      Refusal{"/api/v1/models/unload", "{}", "instance_id"}));

TEST(LmStudioModels, HaveAPublisherWhereTheNameHasOne) {
  front::ModelStatus model;
  for (const auto& [name, publisher] :
       {std::pair{"smol:latest", ""}, std::pair{"org/smol:latest", "org"},
        std::pair{"hf.co/org/smol:q4", "org"}}) {
    model.name = name;
    EXPECT_EQ(json::parse(entry_json(model)).at("publisher"), json::value(publisher)) << name;
  }
}

}  // namespace
}  // namespace hearth::api::lm_studio
