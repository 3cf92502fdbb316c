// SPDX-License-Identifier: Apache-2.0
#include "base/resumable_sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth {
namespace {

std::string content(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 131 % 253);
  return text;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

std::string whole(const std::string& text) { return hex_of(Sha256{}.add(text).finish()); }

TEST(ResumableSha256, ComputesWhatTheOtherDoes) {
  for (const std::size_t size : {0, 1, 63, 64, 65, 1000, 100'000}) {
    const std::string text = content(size);
    EXPECT_EQ(hex_of(ResumableSha256{}.add(bytes_of(text)).finish()), whole(text)) << size;
  }
}

TEST(ResumableSha256, GoesOnWhereItWasPutDown) {
  const std::string text = content(5000);
  for (const std::size_t cut : {0, 64, 640, 4992}) {
    ResumableSha256 first;
    first.add(bytes_of(text).first(cut));
    const auto state = first.state();
    ASSERT_TRUE(state) << cut;
    EXPECT_EQ(state->bytes, cut);
    ResumableSha256 second{*state};
    EXPECT_EQ(second.state(), state);
    second.add(bytes_of(text).subspan(cut));
    EXPECT_EQ(hex_of(second.finish()), whole(text)) << cut;
  }
}

TEST(ResumableSha256, HasNoStateWithinABlock) {
  ResumableSha256 sha;
  sha.add(bytes_of("abc"));
  EXPECT_FALSE(sha.state());
}

// Beyond 512 MiB the count of bits no longer fits one word; adding that much would take a test
// seconds, so it is put there.
TEST(ResumableSha256, CountsBeyondOneWord) {
  ResumableSha256::State state;
  state.bytes = std::uint64_t{5} << 30;
  ResumableSha256 sha{state};
  sha.add(bytes_of(content(64)));
  ASSERT_TRUE(sha.state());
  EXPECT_EQ(sha.state()->bytes, (std::uint64_t{5} << 30) + 64);
  ResumableSha256::State less = state;
  less.bytes = (std::uint64_t{5} << 30) % (std::uint64_t{1} << 29);
  EXPECT_NE(hex_of(ResumableSha256{state}.finish()), hex_of(ResumableSha256{less}.finish()));
}

}  // namespace
}  // namespace hearth
