// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "api/api.h"
#include "api/ollama/option_rules.h"

namespace hearth::api {
namespace {

namespace json = boost::json;

json::value document() {
  const auto root = std::filesystem::path{__FILE__}.parent_path().parent_path().parent_path();
  std::ostringstream text;
  text << std::ifstream{root / "docs" / "openapi.json"}.rdbuf();
  return json::parse(text.str());
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string_view text_of(const json::value& value) { return value.as_string(); }

// "get /v1/models", and what the route needs.
using Needed = std::map<std::string, std::string>;

TEST(OpenApi, NamesExactlyTheRoutesThereAreAndWhatTheyNeed) {
  Needed documented;
  const json::value whole = document();
  for (const auto& path : whole.at("paths").as_object()) {
    for (const auto& operation : path.value().as_object()) {
      const std::string route = std::string{operation.key()} + " " + std::string{path.key()};
      documented[route] = text_of(operation.value().at("x-hearth-needs"));
    }
  }
  Needed served;
  for (const Route& route : routes()) {
    std::string line = lower(route.method) + " " + std::string{route.pattern};
    if (line.ends_with("{rest}")) line.replace(line.size() - 6, 6, "{name}");
    served[line] = name_of(route.needs);
  }
  EXPECT_EQ(documented, served);
}

TEST(OpenApi, WantsAKeyWhereTheRouteDoes) {
  const json::value whole = document();
  for (const auto& path : whole.at("paths").as_object()) {
    for (const auto& operation : path.value().as_object()) {
      const json::object& said = operation.value().as_object();
      const bool open = text_of(said.at("x-hearth-needs")) == "nothing";
      EXPECT_EQ(said.contains("security"), open) << path.key();  // else that of the whole document
      EXPECT_EQ(said.at("responses").as_object().contains("401"), !open) << path.key();
    }
  }
}

TEST(OpenApi, HasOllamasOptionsAsTheyAre) {
  const json::value whole = document();
  const json::object& options =
      whole.at_pointer("/components/schemas/OllamaOptions/properties").as_object();
  EXPECT_EQ(options.size(), ollama::option_rules().size());
  for (const ollama::OptionRule& rule : ollama::option_rules()) {
    ASSERT_TRUE(options.contains(rule.name)) << rule.name;
    const json::object& option = options.at(rule.name).as_object();
    EXPECT_EQ(text_of(option.at("description")), rule.text) << rule.name;
    EXPECT_EQ(option.contains("enum"), rule.treatment == ollama::Treatment::kNeutralOnly);
  }
}

}  // namespace
}  // namespace hearth::api
