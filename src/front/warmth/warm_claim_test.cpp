// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/warm_claim.h"

#include <gtest/gtest.h>

#include <random>

#include "front/warmth/psi_base.h"
#include "front/warmth/wilson.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

constexpr WarmTerms kTerms{800ms, 8h};

FirstToken token(Duration time) { return {time, {}, {}, {}, {}}; }

// A claim with a clock.
struct Model {
  bool ask(Duration after, Duration ttft, WarmKind kind = WarmKind::kRequest) {
    now += after + ttft;
    const bool ended = claim.answered(token(ttft), kind, now, 0);
    if (kind == WarmKind::kRequest) claim.left(now);
    return ended;
  }
  WarmClaim claim{kTerms};
  Duration now = 1h;
};

struct WilsonCase {
  int met, of;
  double low;
};

TEST(Wilson, IsTheLowerBound) {
  for (const WilsonCase& c : {WilsonCase{0, 0, 0},
                              {5, 5, 0.6489},
                              {51, 51, 0.9496},
                              {52, 52, 0.9506},
                              {9, 10, 0.6523},
                              {0, 10, 0}}) {
    EXPECT_NEAR(wilson_low(c.met, c.of), c.low, 5e-4) << c.met << " of " << c.of;
  }
  EXPECT_LT(wilson_low(100, 101), wilson_low(101, 101));
}

struct TokenCase {
  const char* name;
  FirstToken token;
  Duration short_prompt;
};
class FirstTokenCases : public ::testing::TestWithParam<TokenCase> {};

TEST_P(FirstTokenCases, AreMadeComparable) {
  EXPECT_EQ(GetParam().token.for_short_prompt(), GetParam().short_prompt);
}

INSTANTIATE_TEST_SUITE_P(
    Warmth, FirstTokenCases,
    ::testing::Values(TokenCase{"Short", {500ms, 50ms, 400ms, 400ms}, 500ms},
                      TokenCase{"Long", {3000ms, 2700ms, 2800ms, 300ms}, 500ms},
                      TokenCase{"ForecastTooLong", {3000ms, 1000ms, 9000ms, 300ms}, 2000ms},
                      TokenCase{"HiddenBehindReading", {3000ms, 1000ms, 2900ms, 2800ms}, 2900ms},
                      TokenCase{"ShorterThanShort", {200ms, 10ms, 100ms, 200ms}, 200ms},
                      TokenCase{"NothingKnown", {900ms, {}, {}, {}}, 900ms}),
    [](const auto& test) { return test.param.name; });

TEST(WarmClaim, OnlyTheFirstAfterTheGapCounts) {
  Model model;
  EXPECT_FALSE(model.ask(0h, 100ms)) << "nobody knows for how long it was idle";
  EXPECT_FALSE(model.ask(7h, 100ms));
  EXPECT_TRUE(model.ask(8h, 100ms));
  EXPECT_FALSE(model.ask(1s, 5s));
  const WarmVerdict verdict = model.claim.verdict();
  EXPECT_EQ(verdict.of, 1);
  EXPECT_EQ(verdict.met, 1);
  EXPECT_EQ(verdict.state, WarmState::kHolding);
}

TEST(WarmClaim, TheGapEndsWhenTheRequestComesNotWithItsToken) {
  Model model;
  model.ask(0h, 100ms);
  EXPECT_FALSE(model.ask(8h - 30s, 60s));
}

TEST(WarmClaim, ATokenMayBeToldOfLater) {
  Model model;
  model.ask(0h, 100ms);
  FirstToken late = token(100ms);
  late.since = 30min;
  model.now += 8h;
  EXPECT_FALSE(model.claim.answered(late, WarmKind::kRequest, model.now, 0));
}

TEST(WarmClaim, ALongReplyIsNoIdleness) {
  Model model;
  model.ask(0h, 100ms);
  model.now += 9h;
  model.claim.left(model.now);
  EXPECT_FALSE(model.ask(1h, 100ms));
  EXPECT_TRUE(model.ask(8h, 100ms));
}

TEST(WarmClaim, IsProvedByFiftyTwoAndNotByFewer) {
  Model model;
  EXPECT_EQ(model.claim.verdict().state, WarmState::kUnknown);
  model.ask(0h, 100ms);
  for (int i = 1; i <= 52; ++i) {
    EXPECT_EQ(model.claim.verdict().state, i == 1 ? WarmState::kUnknown : WarmState::kHolding);
    EXPECT_TRUE(model.ask(9h, 800ms));
  }
  EXPECT_EQ(model.claim.verdict().state, WarmState::kProved);
  model.ask(9h, 801ms);
  EXPECT_EQ(model.claim.verdict().state, WarmState::kMissed);
}

TEST(WarmClaim, AMissIsForgottenAtLast) {
  Model model;
  model.ask(0h, 100ms);
  model.ask(9h, 9s);
  for (std::size_t i = 0; i + 1 < WarmClaim::kMost; ++i) model.ask(9h, 100ms);
  EXPECT_EQ(model.claim.verdict().met, 127);
  EXPECT_EQ(model.claim.verdict().state, WarmState::kProved) << "127 of 128 are enough";
  model.ask(9h, 100ms);
  EXPECT_EQ(model.claim.verdict().met, 128);
  EXPECT_EQ(model.claim.notes().periods.size(), WarmClaim::kMost);
}

TEST(WarmClaim, NewTermsJudgeWhatWasMeasured) {
  Model model;
  model.ask(0h, 100ms);
  model.ask(9h, 900ms);
  model.ask(20h, 300ms);
  EXPECT_EQ(model.claim.verdict().met, 1);
  model.claim.set_terms({1s, 8h});
  EXPECT_EQ(model.claim.verdict().met, 2);
  model.claim.set_terms({1s, 12h});
  EXPECT_EQ(model.claim.verdict().of, 1);
}

TEST(WarmClaim, OneProbeAnIdlePeriod) {
  Model model;
  model.ask(0h, 100ms);
  EXPECT_FALSE(model.claim.wants_probe(model.now + 7h));
  EXPECT_TRUE(model.claim.wants_probe(model.now + 8h));
  EXPECT_TRUE(model.ask(8h, 200ms, WarmKind::kProbe));
  EXPECT_EQ(model.claim.last()->kind, WarmKind::kProbe);
  EXPECT_FALSE(model.claim.wants_probe(model.now + 30h));
  EXPECT_FALSE(model.ask(4h, 9s)) << "a probe touched it four hours ago";
  EXPECT_TRUE(model.claim.wants_probe(model.now + 8h));
  model.ask(8h, 200ms, WarmKind::kProbe);
  EXPECT_TRUE(model.ask(8h, 200ms)) << "nothing has touched it for as long";
  EXPECT_EQ(model.claim.verdict().of, 3);
}

TEST(WarmClaim, WhoeverGivesUpBeforeTSaysNothing) {
  Model model;
  model.ask(0h, 100ms);
  model.now += 9h;
  EXPECT_FALSE(model.claim.gave_up(token(500ms), WarmKind::kRequest, model.now, 0));
  model.now += 9h;
  EXPECT_TRUE(model.claim.gave_up(token(900ms), WarmKind::kRequest, model.now, 0));
  EXPECT_EQ(model.claim.verdict().state, WarmState::kMissed);
  EXPECT_FALSE(model.claim.last()->ttft);
  model.now += 9h;
  EXPECT_TRUE(model.claim.gave_up(token(10ms), WarmKind::kProbe, model.now, 0)) << "it failed";
}

TEST(WarmClaim, WhoSqueezesOthersIsNotWarm) {
  Model model;
  model.ask(0h, 100ms);
  model.claim.observe(0.9, WarmClaim::Others::kWell);
  model.ask(9h, 100ms);
  EXPECT_EQ(model.claim.verdict().met, 1);
  model.claim.observe(1.1, WarmClaim::Others::kWell);
  model.claim.observe(0, WarmClaim::Others::kWell);
  model.ask(9h, 100ms);
  EXPECT_EQ(model.claim.verdict().met, 1);
  EXPECT_TRUE(model.claim.last()->squeezed());
  model.claim.observe(0, WarmClaim::Others::kHarmed);
  model.ask(9h, 100ms);
  EXPECT_EQ(model.claim.verdict().met, 1);
  model.ask(9h, 100ms);
  EXPECT_EQ(model.claim.verdict().met, 2) << "each period by itself";
}

TEST(WarmClaim, CountsRightWhateverComes) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random{seed};
    Model model;
    std::optional<Duration> touched;
    int of = 0, met = 0;
    for (int i = 0; i < 100; ++i) {
      const Duration pause = std::chrono::minutes{random() % 1000};
      const Duration ttft = std::chrono::milliseconds{random() % 1600};
      const auto kind = random() % 4 == 0 ? WarmKind::kProbe : WarmKind::kRequest;
      const Duration begun = model.now + pause;
      const bool ends = touched && begun - *touched >= kTerms.gap;
      ASSERT_EQ(model.ask(pause, ttft, kind), ends);
      of += ends;
      met += ends && ttft <= kTerms.ttft;
      touched = model.now;
    }
    EXPECT_EQ(model.claim.verdict().of, of);
    EXPECT_EQ(model.claim.verdict().met, met);
    EXPECT_LE(model.claim.verdict().wilson_low, static_cast<double>(met) / std::max(1, of) + 1e-9);
  }
}

TEST(PsiBase, IsWhatThereIsWithoutTheModel) {
  using Held = PsiBase::Held;
  PsiBase base;
  EXPECT_EQ(base.rise(2, Held::kNothing, 0s), 0);
  EXPECT_EQ(base.rise(5, Held::kSomething, 10s), 3);
  EXPECT_EQ(base.rise(5, Held::kSomething, 10h), 3) << "what is held does not become usual";
  EXPECT_EQ(base.rise(1, Held::kSomething, 11h), 0);
  for (int i = 1; i <= 180; ++i) base.rise(5, Held::kNothing, 11h + i * 1min);
  EXPECT_NEAR(base.rise(5, Held::kSomething, 15h), 0, 0.02);
}

}  // namespace
}  // namespace hearth::front
