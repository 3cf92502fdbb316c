// SPDX-License-Identifier: Apache-2.0
#include "layers/layer.h"

#include <gtest/gtest.h>

#include <vector>

#include "layers/switches.h"

namespace hearth {
namespace {

TEST(LayerKind, NamesAndKindsAgree) {
  for (int i = 0; i < 5; ++i) {
    const auto kind = static_cast<LayerKind>(i);
    EXPECT_EQ(layer_named(name_of(kind)), kind);
  }
  EXPECT_FALSE(layer_named("Artifact"));
  EXPECT_FALSE(layer_named(""));
}

TEST(LayerSwitches, TurnOffWhatIsNamed) {
  const std::vector<std::string> names{"pages", "prefix"};
  const Result<LayerSwitches> switches = switches_without(names);
  ASSERT_TRUE(switches);
  EXPECT_FALSE(switches->enabled(LayerKind::kPages));
  EXPECT_FALSE(switches->enabled(LayerKind::kPrefix));
  EXPECT_TRUE(switches->enabled(LayerKind::kArtifact));
  EXPECT_TRUE(switches->enabled(LayerKind::kWeights));
  EXPECT_TRUE(switches->enabled(LayerKind::kCompiled));
}

TEST(LayerSwitches, RefuseAnUnknownLayer) {
  const std::vector<std::string> names{"pages", "disk"};
  const Result<LayerSwitches> switches = switches_without(names);
  ASSERT_FALSE(switches);
  EXPECT_EQ(switches.error().code(), ErrorCode::kInvalid);
  EXPECT_NE(switches.error().message().find("\"disk\""), std::string::npos);
}

}  // namespace
}  // namespace hearth
