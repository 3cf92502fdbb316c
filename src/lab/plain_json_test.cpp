// SPDX-License-Identifier: Apache-2.0
#include "lab/plain_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>

namespace hearth::lab {
namespace {

struct NumberCase {
  double number;
  const char* text;
};
class PlainNumbers : public ::testing::TestWithParam<NumberCase> {};
TEST_P(PlainNumbers, AreWrittenInDecimalsAndComeBack) {
  const std::string text = plain_json(GetParam().number);
  EXPECT_EQ(text, GetParam().text);
  EXPECT_DOUBLE_EQ(boost::json::parse(text).to_number<double>(), GetParam().number);
}
INSTANTIATE_TEST_SUITE_P(Json, PlainNumbers,
                         ::testing::Values(NumberCase{0, "0"}, NumberCase{120, "120"},
                                           NumberCase{-0.5, "-0.5"},
                                           NumberCase{1234567.25, "1234567.25"},
                                           NumberCase{1e6, "1000000"}, NumberCase{0.1, "0.1"}));

TEST(PlainJson, KeepsWhatIsSmallLargeOrNoNumber) {
  for (const double number : {1.5e-7, 1e300, 2.25e-12}) {
    EXPECT_DOUBLE_EQ(boost::json::parse(plain_json(number)).to_number<double>(), number);
  }
  EXPECT_EQ(plain_json(1.5e-7).find('e'), std::string::npos);
  EXPECT_EQ(plain_json(std::numeric_limits<double>::infinity()), "null");
}

TEST(PlainJson, WritesAllElseAsUsual) {
  const boost::json::value value{{"a\"", {1, true, nullptr, "b\n"}}, {"c", {{"d", 2.0}}}};
  EXPECT_EQ(plain_json(value), R"({"a\"":[1,true,null,"b\n"],"c":{"d":2}})");
  EXPECT_EQ(plain_json(boost::json::object{}), "{}");
}

}  // namespace
}  // namespace hearth::lab
