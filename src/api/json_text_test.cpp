// SPDX-License-Identifier: Apache-2.0
#include "api/json_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

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

}  // namespace
}  // namespace hearth::api
