// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_chain.h"

#include <gtest/gtest.h>

#include <numeric>
#include <ostream>
#include <set>
#include <string>

namespace hearth::blocks {
namespace {

const Digest kRoot = root_of({"model", "alice", "secret"});

std::vector<std::int32_t> tokens(std::size_t count) {
  std::vector<std::int32_t> out(count);
  std::iota(out.begin(), out.end(), 1000);
  return out;
}

struct LengthCase {
  const char* name;
  std::size_t tokens;
  std::size_t blocks;
};
void PrintTo(const LengthCase& c, std::ostream* out) { *out << c.name; }
class ChainLength : public ::testing::TestWithParam<LengthCase> {};

TEST_P(ChainLength, CountsFullBlocks) {
  EXPECT_EQ(chain_of(kRoot, tokens(GetParam().tokens)).size(), GetParam().blocks);
}

INSTANTIATE_TEST_SUITE_P(Chain, ChainLength,
                         ::testing::Values(LengthCase{"None", 0, 0}, LengthCase{"OneToken", 1, 0},
                                           LengthCase{"OneTooFew", 63, 0},
                                           LengthCase{"Exactly", 64, 1},
                                           LengthCase{"OneMore", 65, 1},
                                           LengthCase{"Several", 64 * 5 + 63, 5}),
                         [](const auto& test) { return test.param.name; });

TEST(Chain, NamesEachBlockByTheOneBeforeIt) {
  const auto all = tokens(3 * kBlockTokens);
  const auto chain = chain_of(kRoot, all);
  Digest parent = kRoot;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    EXPECT_EQ(chain[i], digest_of(parent, std::span{all}.subspan(i * kBlockTokens, kBlockTokens)));
    parent = chain[i];
  }
}

TEST(Chain, IsTheSameForTheSameBeginning) {
  const auto shorter = chain_of(kRoot, tokens(130)), longer = chain_of(kRoot, tokens(400));
  ASSERT_EQ(shorter.size(), 2U);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST(Chain, DiffersFromTheBlockOnThatHasAnotherToken) {
  const auto one = tokens(4 * kBlockTokens);
  for (std::size_t at = 0; at < one.size(); ++at) {
    auto other = one;
    other[at] ^= 1 << (at % 31);
    const auto a = chain_of(kRoot, one), b = chain_of(kRoot, other);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i] == b[i], i < at / kBlockTokens) << at;
  }
}

TEST(Chain, NamesTheSameTokensAnewAtAnotherPlace) {
  const std::vector<std::int32_t> same(4 * kBlockTokens, 7);
  const auto chain = chain_of(kRoot, same);
  EXPECT_EQ(std::set(chain.begin(), chain.end()).size(), 4U);
}

// Texts that would be alike if they were only set one after another.
TEST(Root, IsItsOwnForEachDomain) {
  const std::string nul(1, '\0');
  const std::string eight(8, '\0');
  const std::vector<Domain> domains{{"", "", ""},
                                    {"ab", "c", "d"},
                                    {"a", "bc", "d"},
                                    {"a", "b", "cd"},
                                    {"abcd", "", ""},
                                    {"", "abcd", ""},
                                    {"", "", "abcd"},
                                    {"ab", "cd", ""},
                                    {"ab", "", "cd"},
                                    {nul, "", ""},
                                    {"", nul, ""},
                                    {"", "", nul},
                                    {eight, "", ""},
                                    {"", eight, ""},
                                    {"d", "c", "ab"},
                                    {"model", "alice", "secret"},
                                    {"model", "", "secret"},
                                    {"model", "bob", "secret"},
                                    {"model", "alice", "other"}};
  std::set<Digest> roots;
  for (const Domain& domain : domains) roots.insert(root_of(domain));
  EXPECT_EQ(roots.size(), domains.size());
}

TEST(Root, IsNoTextsOwnLengthInDisguise) {
  // A fingerprint that ends as the next text's length and that text begin.
  std::string disguised{"a"};
  disguised += '\1';
  disguised += std::string(7, '\0');
  disguised += "b";
  EXPECT_NE(root_of({disguised, "", ""}), root_of({"a", "b", ""}));
}

TEST(Root, IsTheSameTomorrow) {
  EXPECT_EQ(root_of({"model", "alice", "secret"}), kRoot);
  EXPECT_NE(chain_of(kRoot, tokens(64)), chain_of(root_of({"model", "bob", "secret"}), tokens(64)));
}

}  // namespace
}  // namespace hearth::blocks
