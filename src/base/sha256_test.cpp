// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

struct HashCase {
  const char* name;
  std::string text;
  const char* hex;
};
class Sha256Vector : public testing::TestWithParam<HashCase> {};
TEST_P(Sha256Vector, Matches) {
  EXPECT_EQ(hex_of(Sha256{}.add(GetParam().text).finish()), GetParam().hex);
}
TEST_P(Sha256Vector, DoesNotMindPieces) {
  Sha256 hash;
  const std::string_view text = GetParam().text;
  for (std::size_t at = 0; at < text.size(); at += 61) hash.add(text.substr(at, 61));
  EXPECT_EQ(hex_of(hash.finish()), GetParam().hex);
}
INSTANTIATE_TEST_SUITE_P(
    Fips180, Sha256Vector,
    testing::Values(
        HashCase{"Empty", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        HashCase{"Short", "abc",
                 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        HashCase{"TwoBlocks", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        HashCase{"Million", std::string(1'000'000, 'a'),
                 "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth
