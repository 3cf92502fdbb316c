// SPDX-License-Identifier: Apache-2.0
#include "cli/quantity.h"

#include <gtest/gtest.h>

#include <tuple>

namespace hearth::cli {
namespace {

using namespace literals;

TEST(ParseSize, KnowsBothKindsOfUnits) {
  const std::tuple<const char*, Bytes> cases[] = {
      {"0", 0_MiB},         {"4096", 4_KiB},
      {"4096B", 4_KiB},     {"500M", 500_MiB},
      {"500m", 500_MiB},    {"2GiB", 2_GiB},
      {"2 GiB", 2_GiB},     {"1.5g", 1536_MiB},
      {"1T", 1024_GiB},     {"2GB", Bytes{2'000'000'000}},
      {"1kB", Bytes{1000}},
  };
  for (const auto& [text, bytes] : cases) {
    const auto size = parse_size(text);
    ASSERT_TRUE(size) << text;
    EXPECT_EQ(*size, bytes) << text;
  }
}

TEST(ParseSize, RefusesWhatIsNone) {
  for (const char* text :
       {"", "M", "-1", "2X", "2GiBs", "nan", "inf", "1e3", "0x10", "9999999T", "2M 3M", "."}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().code(), ErrorCode::kInvalid);
    EXPECT_NE(size.error().message().find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace hearth::cli
