// SPDX-License-Identifier: Apache-2.0
#include "api/json_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>
#include <string>
#include <vector>

namespace hearth::api {
namespace {

TEST(JsonString, EscapesWhatJsonForbids) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("a\"b\\c\n\t\r"), R"("a\"b\\c\n\t\r")");
  EXPECT_EQ(json_string(std::string_view{"\0\x1f", 2}), R"("\u0000\u001f")");
  EXPECT_EQ(json_string("gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\xa5"), "\"grüß 🔥\"");
}

TEST(JsonString, EveryByteBelowASpaceReadsBack) {
  for (char c = 0; c < 0x20; ++c) {
    const std::string text{'a', c, 'b'};
    EXPECT_EQ(boost::json::parse(json_string(text)), boost::json::value(text)) << int{c};
  }
}

TEST(JsonFloats, WritesTheShortestTextThatReadsBack) {
  const auto written = [](std::vector<float> values) {
    std::string out;
    append_json_floats(out, values);
    return out;
  };
  EXPECT_EQ(written({}), "[]");
  EXPECT_EQ(written({0.1F, -2, 1e-9F}), "[0.1,-2,1e-09]");
  EXPECT_EQ(written({std::numeric_limits<float>::quiet_NaN()}), "[0]");
}

}  // namespace
}  // namespace hearth::api
