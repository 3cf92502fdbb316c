// SPDX-License-Identifier: Apache-2.0
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

struct ModuleCase {
  const char* name;
  const char* method;
  const char* path;
  const char* body;
  int status;
  const char* called;
  const char* field;  // what the error names
};

class AdminModules : public ::testing::TestWithParam<ModuleCase> {
 protected:
  AdminModules() {
    front::ModuleStatus house;
    house.module.name = "house";
    house.module.text = "be brief";
    house.module.version = 3;
    house.module.digest = "0123456789abcdef";
    house.module.file = "/secret/house.txt";
    house.models = {{"smol:latest", 412, "memory"}, {"other:latest", std::nullopt, ""}};
    service.known_modules.push_back(house);
  }
  void start(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

TEST_P(AdminModules, AskTheFrontOrNameTheField) {
  FakeExchange exchange{GetParam().method, GetParam().path, GetParam().body};
  start(exchange);
  EXPECT_EQ(exchange.status, GetParam().status) << exchange.body;
  EXPECT_EQ(service.called, GetParam().called);
  if (exchange.status == 200) return;
  const json::value field = json::parse(exchange.body).at("error").at("field");
  EXPECT_EQ(field.is_null() ? "" : json::value_to<std::string>(field), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Calls, AdminModules,
    ::testing::Values(
        ModuleCase{"List", "GET", "/api/hearth/modules", "", 200, "", ""},
        ModuleCase{"Show", "GET", "/api/hearth/modules/house", "", 200, "", ""},
        ModuleCase{"ShowUnknown", "GET", "/api/hearth/modules/none", "", 404, "", ""},
        ModuleCase{"Set", "PUT", "/api/hearth/modules/tools",
                   R"({"text":"none","models":["smol"]})", 200, "set_module tools none smol", ""},
        ModuleCase{"SetForNone", "PUT", "/api/hearth/modules/tools", R"({"text":"none"})", 200,
                   "set_module tools none", ""},
        ModuleCase{"NoText", "PUT", "/api/hearth/modules/tools", "{}", 400, "", "text"},
        ModuleCase{"ModelsAsText", "PUT", "/api/hearth/modules/tools",
                   R"({"text":"x","models":"smol"})", 400, "", "models"},
        ModuleCase{"ANumber", "PUT", "/api/hearth/modules/tools", R"({"text":"x","models":[3]})",
                   400, "", "models[0]"},
        ModuleCase{"Remove", "DELETE", "/api/hearth/modules/house", "", 200, "remove_module house",
                   ""}),
    [](const auto& test) { return test.param.name; });

using AdminModulesShown = AdminModules;

TEST_F(AdminModulesShown, LeaveTextsOutOfLists) {
  FakeExchange list{"GET", "/api/hearth/modules", ""};
  start(list);
  const json::value house = json::parse(list.body).at("modules").at(0);
  EXPECT_EQ(house.at("version").as_string(), "3-01234567");
  EXPECT_EQ(house.at("bytes").as_int64(), 8);
  EXPECT_EQ(house.at("file").as_string(), "/secret/house.txt") << "everybody is admin here";
  EXPECT_FALSE(house.as_object().contains("text"));
  const json::value models = house.at("models");
  EXPECT_EQ(models.at(0).at("tokens").as_int64(), 412);
  EXPECT_EQ(models.at(0).at("level").as_string(), "memory");
  EXPECT_TRUE(models.at(1).at("tokens").is_null());
  EXPECT_TRUE(models.at(1).at("level").is_null());
  FakeExchange one{"GET", "/api/hearth/modules/house", ""};
  start(one);
  EXPECT_EQ(json::parse(one.body).at("text").as_string(), "be brief");
}

}  // namespace
}  // namespace hearth::api
