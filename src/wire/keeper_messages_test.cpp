// SPDX-License-Identifier: Apache-2.0
#include "wire/keeper_messages.h"

#include <gtest/gtest.h>

namespace hearth::wire {
namespace {

TEST(KeeperMessages, ComeBackAsTheyWent) {
  KeepMessage message;
  message.pieces = {{0, 0, Bytes{4096}},
                    {1, std::uint64_t{1} << 40, Bytes{std::uint64_t{3} << 30}}};
  const auto decoded = decode_keep(encode(message));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->pieces, message.pieces);
}

TEST(KeeperMessages, RefuseWhatIsNone) {
  for (const char* text : {"", "[]", "{}", R"({"pieces":[{"file":-1,"offset":0,"size":1}]})",
                           R"({"pieces":[{"file":0,"size":1}]})", R"({"pieces":[1]})"}) {
    const auto decoded = decode_keep(text);
    ASSERT_FALSE(decoded) << text;
    EXPECT_EQ(decoded.error().code(), ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace hearth::wire
