// SPDX-License-Identifier: Apache-2.0
#include "api/router.h"

#include <gtest/gtest.h>

#include <array>

namespace hearth::api {
namespace {

Task<void> nothing(Call) { co_return; }

constexpr std::array kTable{
    Route{"GET", "/m", nothing, Needs::kAnyKey, "all"},
    Route{"GET", "/m/{rest}", nothing, Needs::kAnyKey, "one"},
    Route{"DELETE", "/m/{rest}", nothing, Needs::kAdmin, "gone"},
    Route{"GET", "/r/{id}", nothing, Needs::kWatch, "a part"},
    Route{"GET", "/r/{id}/parts", nothing, Needs::kWatch, "its parts"},
    Route{"POST", "/p", nothing, Needs::kUse, "do"},
};

std::string outcome(std::string_view method, std::string_view path) {
  const Match match = Router{kTable}.match(method, path);
  if (const auto* found = std::get_if<Found>(&match)) return "found:" + found->argument;
  if (const auto* wrong = std::get_if<WrongMethod>(&match)) return "allow:" + wrong->allowed;
  return "unknown";
}

struct MatchCase {
  const char* method;
  const char* path;
  const char* outcome;
};

class Routing : public testing::TestWithParam<MatchCase> {};

TEST_P(Routing, Decides) {
  EXPECT_EQ(outcome(GetParam().method, GetParam().path), GetParam().outcome);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Routing,
    testing::Values(
        MatchCase{"GET", "/m", "found:"}, MatchCase{"HEAD", "/m", "found:"},
        MatchCase{"GET", "/m/a/b:c", "found:a/b:c"}, MatchCase{"DELETE", "/m/a", "found:a"},
        MatchCase{"POST", "/m/a", "allow:GET, HEAD, DELETE"},
        MatchCase{"OPTIONS", "/p", "allow:POST"}, MatchCase{"HEAD", "/p", "allow:POST"},
        MatchCase{"GET", "/r/x", "found:x"}, MatchCase{"GET", "/r/x/y", "unknown"},
        MatchCase{"GET", "/r/x/parts", "found:x"}, MatchCase{"GET", "/r/x/y/parts", "unknown"},
        MatchCase{"GET", "/r//parts", "unknown"}, MatchCase{"PUT", "/r/x/parts", "allow:GET, HEAD"},
        MatchCase{"GET", "/r/", "unknown"}, MatchCase{"GET", "/M", "unknown"},
        MatchCase{"GET", "/", "unknown"}));

}  // namespace
}  // namespace hearth::api
