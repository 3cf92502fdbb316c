// SPDX-License-Identifier: Apache-2.0
#include "timeline/avoided.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth {
namespace {

using namespace literals;
using std::chrono::milliseconds;

Before all_warm() {
  Before before;
  before.artifact.bytes = 200_MiB;
  before.pages.bytes = 100_MiB;
  before.weights.fraction = 1;
  before.weights.bytes = 120_MiB;
  before.compiled.fraction = 1;
  before.compiled.bytes = 10_MiB;
  return before;
}

Rates measured() {
  return {.read_bytes_per_s = static_cast<double>((50_MiB).count()),
          .load = milliseconds{400},
          .compile = milliseconds{70},
          .prefill_tokens_per_s = 1000.0,
          .prefix_bytes_per_token = 2_KiB};
}

TEST(Avoided, EachWarmLayerSavesItsOwn) {
  const Avoided avoided =
      avoided_by({.prompt_tokens = 300, .cached_tokens = 256}, all_warm(), measured());
  ASSERT_TRUE(avoided.artifact && avoided.pages && avoided.weights && avoided.compiled &&
              avoided.prefix);
  EXPECT_EQ(avoided.artifact->bytes, 200_MiB);
  EXPECT_EQ(avoided.artifact->time, std::nullopt);
  EXPECT_EQ(avoided.pages->bytes, 100_MiB);
  EXPECT_EQ(avoided.pages->time, milliseconds{2000});
  EXPECT_EQ(avoided.weights->bytes, 120_MiB);
  EXPECT_EQ(avoided.weights->time, milliseconds{400});
  EXPECT_EQ(avoided.compiled->time, milliseconds{70});
  EXPECT_EQ(avoided.prefix->tokens, 256);
  EXPECT_EQ(avoided.prefix->bytes, 512_KiB);
  EXPECT_EQ(avoided.prefix->time, milliseconds{256});
}

TEST(Avoided, WhatItTookToRestoreAPrefixWasNotSaved) {
  Facts facts{.prompt_tokens = 300, .cached_tokens = 256, .restored = milliseconds{56}};
  EXPECT_EQ(avoided_by(facts, all_warm(), measured()).prefix->time, milliseconds{200});
  facts.restored = milliseconds{900};
  EXPECT_EQ(avoided_by(facts, all_warm(), measured()).prefix->time, milliseconds{0});
}

TEST(Avoided, NothingWasWarm) {
  const Avoided avoided = avoided_by({.weights_loaded = true}, Before{}, measured());
  EXPECT_FALSE(avoided.artifact || avoided.pages || avoided.weights || avoided.compiled ||
               avoided.prefix);
}

TEST(Avoided, LoadedWeightsSavedNothing) {
  EXPECT_FALSE(avoided_by({.weights_loaded = true}, all_warm(), measured()).weights);
  EXPECT_FALSE(avoided_by({.spawned = true}, all_warm(), measured()).weights);
  EXPECT_FALSE(avoided_by({.compiled = true}, all_warm(), measured()).compiled);
}

struct HiddenCase {
  const char* name;
  int layers;
  int prefill;   // ms
  int expected;  // ms, of 2000 ms of reading
};

class Hidden : public testing::TestWithParam<HiddenCase> {};

TEST_P(Hidden, WhatPrefillHidesWasNotSaved) {
  Rates rates = measured();
  rates.layers = GetParam().layers;
  const Facts facts{.warm_prefill = milliseconds{GetParam().prefill}};
  EXPECT_EQ(avoided_by(facts, all_warm(), rates).pages->time, milliseconds{GetParam().expected});
}

INSTANTIATE_TEST_SUITE_P(Avoided, Hidden,
                         testing::Values(HiddenCase{"OneAfterTheOther", 1, 500, 2000},
                                         HiddenCase{"Shorter", 10, 500, 1550},
                                         HiddenCase{"AsLong", 10, 2000, 200},
                                         HiddenCase{"Longer", 10, 9000, 200},
                                         HiddenCase{"NoPrefill", 10, 0, 2000}),
                         [](const auto& test) { return std::string{test.param.name}; });

TEST(Avoided, TimesStayUnsetWithoutRates) {
  const Avoided avoided = avoided_by({.cached_tokens = 64}, all_warm(), {.read_bytes_per_s = 0.0});
  EXPECT_EQ(avoided.pages->bytes, 100_MiB);
  EXPECT_EQ(avoided.pages->time, std::nullopt);
  EXPECT_EQ(avoided.weights->time, std::nullopt);
  EXPECT_EQ(avoided.prefix->tokens, 64);
  EXPECT_EQ(avoided.prefix->time, std::nullopt);
  EXPECT_EQ(avoided.prefix->bytes, std::nullopt);
}

}  // namespace
}  // namespace hearth
