// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/models.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace hearth::api::anthropic {
namespace {

namespace json = boost::json;

std::vector<front::ModelStatus> models() {
  std::vector<front::ModelStatus> list(4);
  for (std::size_t i = 0; i < list.size(); ++i) list[i].name = std::string{"abcd"[i]};
  list[0].imported_at_us = 1'700'000'000'000'000;
  return list;
}

TEST(ModelEntry, HasWhatTheClientReads) {
  json::object entry = json::parse(model_entry(models()[0])).as_object();
  EXPECT_TRUE(entry.contains("hearth"));
  entry.erase("hearth");
  EXPECT_EQ(json::value(entry), json::parse(R"({"type":"model","id":"a","display_name":"a",
      "created_at":"2023-11-14T22:13:20Z","lifecycle":"active"})"));
}

struct PageCase {
  const char* name;
  const char* query;
  const char* page;   // the names, then "+" where there are more
  const char* field;  // of the error
};

class ModelPage : public testing::TestWithParam<PageCase> {};

TEST_P(ModelPage, IsCut) {
  http::HttpRequest request;
  request.query = GetParam().query;
  const auto page = model_page(models(), request);
  if (!page) {
    EXPECT_EQ(page.error().field(), GetParam().field);
    return;
  }
  EXPECT_STREQ(GetParam().field, "");
  const json::value body = json::parse(*page);
  std::string names;
  for (const json::value& model : body.at("data").as_array()) {
    names += json::value_to<std::string>(model.at("id"));
  }
  if (!names.empty()) {
    EXPECT_EQ(body.at("first_id"), json::value(names.substr(0, 1)));
    EXPECT_EQ(body.at("last_id"), json::value(names.substr(names.size() - 1)));
  } else {
    EXPECT_TRUE(body.at("first_id").is_null());
  }
  if (body.at("has_more").as_bool()) names += '+';
  EXPECT_EQ(names, GetParam().page);
}

INSTANTIATE_TEST_SUITE_P(Queries, ModelPage,
                         testing::Values(PageCase{"All", "", "abcd", ""},
                                         PageCase{"Limit", "limit=2", "ab+", ""},
                                         PageCase{"After", "limit=2&after_id=b", "cd", ""},
                                         PageCase{"AfterWithMore", "limit=1&after_id=b", "c+", ""},
                                         PageCase{"AfterTheLast", "after_id=d", "", ""},
                                         PageCase{"Before", "limit=2&before_id=d", "bc+", ""},
                                         PageCase{"BeforeAll", "before_id=c", "ab", ""},
                                         PageCase{"BeforeTheFirst", "before_id=a", "", ""},
                                         PageCase{"Between", "after_id=a&before_id=d", "bc", ""},
                                         PageCase{"Crossed", "after_id=c&before_id=b", "", ""},
                                         PageCase{"LimitZero", "limit=0", "", "limit"},
                                         PageCase{"LimitWord", "limit=ten", "", "limit"},
                                         PageCase{"Nobody", "after_id=z", "", "after_id"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::api::anthropic
