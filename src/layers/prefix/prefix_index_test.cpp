// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/prefix_index.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace hearth {
namespace {

std::vector<std::int32_t> tokens(std::size_t count, std::int32_t first = 0) {
  std::vector<std::int32_t> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

const PrefixDomain kDomain{"model+options", "alice"};

struct SeenCase {
  const char* name;
  std::size_t evaluated;
  std::size_t asked;
  std::size_t seen;
};
void PrintTo(const SeenCase& c, std::ostream* out) { *out << c.name; }
class SeenPrefix : public ::testing::TestWithParam<SeenCase> {};

TEST_P(SeenPrefix, CountsWholeBlocks) {
  PrefixIndex index;
  index.note_evaluated(kDomain, tokens(GetParam().evaluated));
  EXPECT_EQ(index.seen_prefix(kDomain, tokens(GetParam().asked)), GetParam().seen);
}

INSTANTIATE_TEST_SUITE_P(
    Prefix, SeenPrefix,
    ::testing::Values(SeenCase{"Nothing", 0, 200, 0}, SeenCase{"NoWholeBlock", 63, 63, 0},
                      SeenCase{"OneBlock", 64, 64, 64}, SeenCase{"Longer", 200, 1000, 192},
                      SeenCase{"Shorter", 1000, 200, 192}, SeenCase{"EmptyQuestion", 64, 0, 0}),
    [](const auto& test) { return test.param.name; });

TEST(PrefixIndex, StopsWherePromptsPart) {
  PrefixIndex index;
  index.note_evaluated(kDomain, tokens(256));
  std::vector<std::int32_t> other = tokens(256);
  other[130] = -1;
  EXPECT_EQ(index.seen_prefix(kDomain, other), 128U);
  EXPECT_EQ(index.seen_prefix(kDomain, tokens(256, 64)), 0U) << "same blocks elsewhere";
}

TEST(PrefixIndex, KeepsDomainsApart) {
  PrefixIndex index;
  index.note_evaluated(kDomain, tokens(64));
  EXPECT_EQ(index.seen_prefix({"model+options", "bob"}, tokens(64)), 0U);
  EXPECT_EQ(index.seen_prefix({"model+option", "salice"}, tokens(64)), 0U);
  EXPECT_EQ(index.seen_prefix({"other", "alice"}, tokens(64)), 0U);
}

TEST(PrefixIndex, IsBoundedAndForgetsTheOldestEndsFirst) {
  PrefixIndex index{4};
  index.note_evaluated(kDomain, tokens(192, 1000));
  index.note_evaluated(kDomain, tokens(128, 2000));
  EXPECT_EQ(index.blocks(), 4U);
  EXPECT_EQ(index.seen_prefix(kDomain, tokens(192, 1000)), 128U);
  EXPECT_EQ(index.seen_prefix(kDomain, tokens(128, 2000)), 128U);
  index.note_evaluated(kDomain, tokens(192, 1000));
  EXPECT_EQ(index.seen_prefix(kDomain, tokens(192, 1000)), 192U);
  EXPECT_EQ(index.seen_prefix(kDomain, tokens(128, 2000)), 64U);
  index.clear();
  EXPECT_EQ(index.blocks(), 0U);
}

}  // namespace
}  // namespace hearth
