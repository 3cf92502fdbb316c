// SPDX-License-Identifier: Apache-2.0
#include "policy/prefill_curve.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

using namespace literals;

TEST(PrefillCurve, OfNothingTakesNoTime) {
  PrefillCurve curve{100_MiB};
  curve.learn({{64, 0.5}});
  EXPECT_EQ(curve.seconds(0), 0);
}

TEST(PrefillCurve, IsAGuessUntilSomethingWasMeasured) {
  const PrefillCurve curve{1_GiB};
  EXPECT_FALSE(curve.known());
  EXPECT_DOUBLE_EQ(curve.seconds(64), PrefillCurve::guess(1_GiB, 64));
  EXPECT_GT(curve.seconds(128), curve.seconds(64));
}

TEST(PrefillCurve, GoesThroughWhatWasMeasured) {
  PrefillCurve curve{100_MiB};
  curve.learn({{64, 0.5}});
  EXPECT_TRUE(curve.measured());
  EXPECT_DOUBLE_EQ(curve.seconds(64), 0.5);
  EXPECT_GT(curve.seconds(640), 2.5);
  EXPECT_LT(curve.seconds(640), 5.0);
}

TEST(PrefillCurve, TakesPromptsOfTheSameLengthFirst) {
  PrefillCurve curve{100_MiB};
  curve.learn({{8, 0.2}, {8, 0.2}, {1024, 3.0}, {1024, 3.0}});
  EXPECT_NEAR(curve.seconds(8), 0.2, 0.02);
  EXPECT_NEAR(curve.seconds(1024), 3.0, 0.3);
}

TEST(PrefillCurve, ScalesOthersBySize) {
  PrefillCurve curve{200_MiB};
  curve.learn_from_other(100_MiB, {{64, 0.5}});
  EXPECT_TRUE(curve.known());
  EXPECT_FALSE(curve.measured());
  EXPECT_NEAR(curve.seconds(64), 1.0, 1e-9);
}

TEST(PrefillCurve, ForgetsOthersForItsOwn) {
  PrefillCurve curve{200_MiB};
  curve.learn({{64, 0.3}});
  curve.learn_from_other(100_MiB, {{64, 9.0}});
  EXPECT_DOUBLE_EQ(curve.seconds(64), 0.3);
}

TEST(PrefillCurve, BelievesAChangeAfterAFew) {
  PrefillCurve curve{100_MiB};
  curve.learn({{64, 1.0}, {64, 1.0}, {64, 1.0}, {64, 1.0}, {64, 2.0}});
  EXPECT_LT(curve.seconds(64), 1.3);
  PrefillCurve later{100_MiB};
  later.learn({{64, 1.0}, {64, 1.0}, {64, 1.0}, {64, 2.0}, {64, 2.0}, {64, 2.0}});
  EXPECT_GT(later.seconds(64), 1.7);
}

}  // namespace
}  // namespace hearth
