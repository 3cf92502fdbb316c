// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <gtest/gtest.h>

#include <vector>

namespace hearth {
namespace {

struct Base64Case {
  std::vector<unsigned char> bytes;
  const char* plain;
  const char* url_safe;
};

TEST(Base64, EncodesAndPads) {
  for (const auto& c :
       {Base64Case{{}, "", ""}, Base64Case{{'f'}, "Zg==", "Zg"},
        Base64Case{{'f', 'o'}, "Zm8=", "Zm8"}, Base64Case{{'f', 'o', 'o'}, "Zm9v", "Zm9v"},
        Base64Case{{0xfb, 0xff, 0xfe, 0xff}, "+//+/w==", "-__-_w"}}) {
    EXPECT_EQ(base64_of(c.bytes), c.plain);
    EXPECT_EQ(base64url_of(c.bytes), c.url_safe);
  }
}

}  // namespace
}  // namespace hearth
