// SPDX-License-Identifier: Apache-2.0
#include "base/stage.h"

#include <gtest/gtest.h>

#include <set>

namespace hearth {
namespace {

TEST(Stage, EveryKindHasANameThatLeadsBack) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(StageKind::kDecode); ++i) {
    const auto kind = static_cast<StageKind>(i);
    EXPECT_EQ(stage_named(name_of(kind)), kind);
    names.insert(name_of(kind));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(StageKind::kDecode) + 1);
  EXPECT_EQ(name_of(StageKind::kArtifactVerify), "artifact.verify");
  EXPECT_EQ(name_of(StageKind::kFirstDecode), "first_decode");
  EXPECT_EQ(stage_named("nap"), std::nullopt);
  EXPECT_EQ(stage_named(""), std::nullopt);
}

}  // namespace
}  // namespace hearth
