// SPDX-License-Identifier: Apache-2.0
#include "front/swap_kind.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

constexpr const char* kHead = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
constexpr const char* kZram = "/dev/zram0 partition\t8388604\t\t1024\t\t100\n";
constexpr const char* kFile = "/swapfile file\t\t2097148\t\t0\t\t-2\n";

struct Case {
  const char* name;
  std::string swaps;
  const char* kind;
};
class SwapKind : public ::testing::TestWithParam<Case> {};

TEST_P(SwapKind, IsWhatTheSystemSwapsTo) {
  EXPECT_EQ(swap_kind(GetParam().swaps), GetParam().kind);
}

INSTANTIATE_TEST_SUITE_P(Front, SwapKind,
                         ::testing::Values(Case{"Unreadable", "", ""}, Case{"None", kHead, ""},
                                           Case{"Zram", std::string{kHead} + kZram, "zram"},
                                           Case{"File", std::string{kHead} + kFile, "disk"},
                                           Case{"Both", std::string{kHead} + kZram + kFile, ""}),
                         [](const auto& test) { return std::string{test.param.name}; });

}  // namespace
}  // namespace hearth::front
