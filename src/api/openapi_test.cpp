// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "api/api.h"

namespace hearth::api {
namespace {

namespace json = boost::json;

json::value document() {
  const auto root = std::filesystem::path{__FILE__}.parent_path().parent_path().parent_path();
  std::ostringstream text;
  text << std::ifstream{root / "docs" / "openapi.json"}.rdbuf();
  return json::parse(text.str());
}

TEST(OpenApi, NamesExactlyTheRoutesThereAre) {
  std::set<std::string> documented;
  const json::value whole = document();
  for (const auto& path : whole.at("paths").as_object()) {
    for (const auto& operation : path.value().as_object()) {
      documented.insert(std::string{operation.key()} + " " + std::string{path.key()});
    }
  }
  std::set<std::string> served;
  for (const Route& route : routes()) {
    std::string line{route.method};
    std::ranges::transform(line, line.begin(), [](unsigned char c) { return std::tolower(c); });
    line += " " + std::string{route.pattern};
    if (line.ends_with("{rest}")) line.replace(line.size() - 6, 6, "{name}");
    served.insert(line);
  }
  EXPECT_EQ(documented, served);
}

}  // namespace
}  // namespace hearth::api
