// SPDX-License-Identifier: Apache-2.0
#include "cli/format.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

TEST(Format, BytesHaveThreeDigits) {
  EXPECT_EQ(format_bytes(Bytes{}), "0 B");
  EXPECT_EQ(format_bytes(Bytes{812}), "812 B");
  EXPECT_EQ(format_bytes(Bytes{1023}), "1.00 KiB");
  EXPECT_EQ(format_bytes(Bytes{1024}), "1.00 KiB");
  EXPECT_EQ(format_bytes(Bytes{96'150'000}), "91.7 MiB");
  EXPECT_EQ(format_bytes(Bytes{std::uint64_t{1023} << 20}), "1.00 GiB");
  EXPECT_EQ(format_bytes(Bytes{4'368'439'584}), "4.07 GiB");
  EXPECT_EQ(format_bytes(Bytes{~std::uint64_t{0}}), "16384 PiB");
}

TEST(Format, MillisecondsChangeTheirUnit) {
  EXPECT_EQ(format_milliseconds(0), "0 ms");
  EXPECT_EQ(format_milliseconds(-1), "0 ms");
  EXPECT_EQ(format_milliseconds(0.4), "0.4 ms");
  EXPECT_EQ(format_milliseconds(9.96), "10 ms");
  EXPECT_EQ(format_milliseconds(812), "812 ms");
  EXPECT_EQ(format_milliseconds(999.6), "1.00 s");
  EXPECT_EQ(format_milliseconds(3'412), "3.41 s");
  EXPECT_EQ(format_milliseconds(59'960), "1 min 0 s");
  EXPECT_EQ(format_milliseconds(125'000), "2 min 5 s");
  EXPECT_EQ(format_milliseconds(11'520'000), "3 h 12 min");
  EXPECT_EQ(format_milliseconds(90'000'000), "1 d 1 h");
}

TEST(Format, AgesAreCoarse) {
  EXPECT_EQ(format_age(-1), "never");
  EXPECT_EQ(format_age(0), "just now");
  EXPECT_EQ(format_age(59.9), "59 s ago");
  EXPECT_EQ(format_age(61), "1 min ago");
  EXPECT_EQ(format_age(7'200), "2 h ago");
  EXPECT_EQ(format_age(86'400 * 12), "12 d ago");
}

TEST(Format, CountsByThousands) {
  EXPECT_EQ(format_count(950), "950");
  EXPECT_EQ(format_count(134'515'008), "135M");
  EXPECT_EQ(format_count(7'615'616'512), "7.62B");
  EXPECT_EQ(format_grouped(0), "0");
  EXPECT_EQ(format_grouped(999), "999");
  EXPECT_EQ(format_grouped(8'192), "8,192");
  EXPECT_EQ(format_grouped(1'048'576), "1,048,576");
}

TEST(Format, PercentKeepsNothingAndAllForThemselves) {
  EXPECT_EQ(format_percent(0), "0%");
  EXPECT_EQ(format_percent(0.001), "1%");
  EXPECT_EQ(format_percent(0.4), "40%");
  EXPECT_EQ(format_percent(0.999), "99%");
  EXPECT_EQ(format_percent(1), "100%");
}

struct NameCase {
  const char* label;
  const char* path;
  const char* name;
};
class DefaultName : public testing::TestWithParam<NameCase> {};
TEST_P(DefaultName, ComesFromTheFile) {
  EXPECT_EQ(default_model_name(GetParam().path), GetParam().name);
}
INSTANTIATE_TEST_SUITE_P(
    Import, DefaultName,
    testing::Values(NameCase{"Plain", "/m/SmolLM2-135M-Instruct-Q4_1.gguf",
                             "smollm2-135m-instruct-q4_1"},
                    NameCase{"NoFolder", "tiny.gguf", "tiny"},
                    NameCase{"UpperCaseEnding", "Tiny.GGUF", "tiny"},
                    NameCase{"Sharded", "/m/big-q8-00001-of-00003.gguf", "big-q8"},
                    NameCase{"NotQuiteSharded", "best-of-breed.gguf", "best-of-breed"},
                    NameCase{"ForeignCharacters", "My Model (v2).gguf", "my-model--v2"},
                    NameCase{"Nothing", "/m/.gguf", "model"},
                    NameCase{"OtherEnding", "weights.bin", "weights.bin"}),
    [](const auto& test) { return test.param.label; });

TEST(FormatSpan, HasTwoOfItsUnit) {
  const std::pair<double, const char*> cases[] = {
      {-5, "now"},    {0.5, "now"},     {1, "1 s"},       {60, "1 min"},   {3600, "1 h"},
      {86400, "1 d"}, {3601, "60 min"}, {119, "119 s"},   {120, "2 min"},  {5400, "90 min"},
      {7200, "2 h"},  {28800, "8 h"},   {172799, "47 h"}, {172800, "2 d"},
  };
  for (const auto& [seconds, text] : cases) EXPECT_EQ(format_span(seconds), text) << seconds;
}

TEST(FormatAhead, RoundsDown) {
  const std::pair<double, const char*> cases[] = {
      {-5, "in a moment"},           {0.5, "in a moment"},        {1, "1 second from now"},
      {59.9, "59 seconds from now"}, {60, "1 minute from now"},   {299, "4 minutes from now"},
      {3600, "1 hour from now"},     {172800, "2 days from now"},
  };
  for (const auto& [seconds, text] : cases) EXPECT_EQ(format_ahead(seconds), text) << seconds;
}

}  // namespace
}  // namespace hearth::cli
