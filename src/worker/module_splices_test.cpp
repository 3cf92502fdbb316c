// SPDX-License-Identifier: Apache-2.0
#include "worker/module_splices.h"

#include <gtest/gtest.h>

#include <numeric>
#include <ostream>
#include <string>

namespace hearth::worker {

void PrintTo(const Splice& splice, std::ostream* out) {
  *out << splice.position << ":" << splice.module << "/" << splice.block << "x" << splice.count;
}

namespace {

using engine::Token;
using Tokens = std::vector<Token>;

// Tokens that occur once: `first`, `first` + 1, ...
Tokens text(Token first, int count) {
  Tokens tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

Tokens joined(std::initializer_list<Tokens> parts) {
  Tokens all;
  for (const Tokens& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

struct Module {
  Tokens tokens;
  int blocks = 0;
};

struct SpliceCase {
  const char* name;
  Tokens prompt;
  std::vector<Module> modules;
  int from;
  std::vector<Splice> splices;
};
class Splices : public testing::TestWithParam<SpliceCase> {};

TEST_P(Splices, Found) {
  std::vector<SpliceSource> sources;
  for (const Module& module : GetParam().modules) {
    sources.push_back({module.tokens, module.blocks});
  }
  EXPECT_EQ(find_splices(GetParam().prompt, sources, GetParam().from), GetParam().splices);
}

const Module kHouse{text(1000, 300), 4};  // blocks 1, 2, 3 are of use
const Module kTools{text(5000, 130), 2};  // block 1
const Tokens kHead = text(1, 37);
const Tokens kTail = text(200, 10);

INSTANTIATE_TEST_SUITE_P(
    Modules, Splices,
    testing::Values(
        SpliceCase{"Nothing", kHead, {}, 0, {}},  //
        SpliceCase{"ShortPrompt", text(1, 3), {kHouse}, 0, {}},
        SpliceCase{"NotThere", joined({kHead, text(9000, 300)}), {kHouse}, 0, {}},
        SpliceCase{
            "AllButTheFirst", joined({kHead, kHouse.tokens, kTail}), {kHouse}, 0, {{101, 0, 1, 3}}},
        SpliceCase{"AtItsOwnPlace", joined({kHouse.tokens, kTail}), {kHouse}, 0, {{64, 0, 1, 3}}},
        SpliceCase{"OnlyWhatIsStored",
                   joined({kHead, kHouse.tokens, kTail}),
                   {{kHouse.tokens, 2}},
                   0,
                   {{101, 0, 1, 1}}},
        SpliceCase{"MoreStoredThanTokens",
                   joined({kHead, kTools.tokens, kTail}),
                   {{kTools.tokens, 9}},
                   0,
                   {{101, 0, 1, 1}}},
        SpliceCase{"AfterWhatIsThere",
                   joined({kHead, kHouse.tokens, kTail}),
                   {kHouse},
                   130,
                   {{165, 0, 2, 2}}},
        SpliceCase{
            "NeverTheLastToken", joined({kHead, text(1000, 256)}), {kHouse}, 0, {{101, 0, 1, 2}}},
        SpliceCase{
            "OneTokenAfterIt", joined({kHead, text(1000, 257)}), {kHouse}, 0, {{101, 0, 1, 3}}},
        SpliceCase{"WithoutItsBeginning",
                   joined({kHead, text(1050, 250), kTail}),
                   {kHouse},
                   0,
                   {{51, 0, 1, 3}}},
        SpliceCase{"WithAWordChanged",
                   joined({kHead, text(1000, 140), {7}, text(1141, 159), kTail}),
                   {kHouse},
                   0,
                   {{101, 0, 1, 1}, {229, 0, 3, 1}}},
        SpliceCase{"Two",
                   joined({kTools.tokens, kHead, kHouse.tokens, kTail}),
                   {kHouse, kTools},
                   0,
                   {{64, 1, 1, 1}, {231, 0, 1, 3}}},
        SpliceCase{"Twice",
                   joined({kTools.tokens, kTools.tokens, kTail}),
                   {kTools},
                   0,
                   {{64, 0, 1, 1}, {194, 0, 1, 1}}},
        // Of blocks that are alike the run's own goes on.
        SpliceCase{"Repetitive",
                   joined({kHead, Tokens(256, 3), kTail}),
                   {{Tokens(256, 3), 4}},
                   0,
                   {{37, 0, 1, 3}, {229, 0, 1, 1}}}),
    [](const auto& test) { return std::string{test.param.name}; });

}  // namespace
}  // namespace hearth::worker
