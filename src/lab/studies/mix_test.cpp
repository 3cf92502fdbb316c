// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/mix.h"

#include <gmock/gmock.h>

#include <map>

#include "policy/household/generator.h"

namespace hearth::lab {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

household::Trace trace_of(const std::vector<std::pair<Duration, std::size_t>>& requests,
                          std::size_t models) {
  household::Trace trace;
  for (std::size_t i = 0; i < models; ++i) trace.models.push_back({std::to_string(i), Bytes{1}});
  for (const auto& [at, model] : requests) trace.requests.push_back({at, model, seconds{1}});
  return trace;
}

TEST(HouseholdMixes, DealOutTheTracesModelsInTurn) {
  const household::Trace trace =
      trace_of({{seconds{0}, 0}, {seconds{10}, 1}, {seconds{40}, 2}, {seconds{100}, 0}}, 3);
  const HouseholdMix mix = mixture_of(trace, 2, 10, Meanwhile::kNothing);
  ASSERT_EQ(mix.steps.size(), 4U);
  EXPECT_EQ(mix.steps[2].model, 0U);
  EXPECT_FALSE(mix.steps[0].pause_s);
  EXPECT_EQ(mix.steps[2].pause_s, 40) << "since the other model that it shares a server with";
  EXPECT_EQ(mix.steps[3].pause_s, 60);
  EXPECT_EQ(mix.days, 1);
}

TEST(HouseholdMixes, TakeStretchesFromAllOfALongTrace) {
  const household::Trace trace = household::generate(1, 14);
  const HouseholdMix mix = mixture_of(trace, 1, 200, Meanwhile::kNothing);
  ASSERT_EQ(mix.steps.size(), 200U);
  EXPECT_LT(mix.steps.front().day, 1);
  EXPECT_GT(mix.steps.back().day, 11);
  EXPECT_NEAR(mix.days, 14 * 200.0 / static_cast<double>(trace.requests.size()), 0.01);
  EXPECT_TRUE(std::ranges::is_sorted(mix.steps, {}, &MixStep::day));
  for (std::size_t i = 1; i < mix.steps.size(); ++i) EXPECT_TRUE(mix.steps[i].pause_s);
}

TEST(HouseholdMixes, TakeNoRequestTwice) {
  std::vector<std::pair<Duration, std::size_t>> requests;
  for (int n = 0; n < 50; ++n) requests.emplace_back(seconds{10 * n}, 0);
  for (const int wanted : {1, 20, 45, 50, 80}) {
    const HouseholdMix mix = mixture_of(trace_of(requests, 1), 1, wanted, Meanwhile::kNothing);
    EXPECT_EQ(mix.steps.size(), static_cast<std::size_t>(std::min(wanted, 50)));
  }
}

TEST(HouseholdMixes, KnowWhenABackupRan) {
  const household::Trace trace =
      trace_of({{hours{2}, 0}, {hours{4}, 0}, {hours{5}, 0}, {hours{26}, 0}, {hours{28}, 0}}, 1);
  const HouseholdMix mix = mixture_of(trace, 1, 10, Meanwhile::kBackup);
  std::vector<bool> after;
  for (const MixStep& step : mix.steps) after.push_back(step.after_backup);
  EXPECT_THAT(after, testing::ElementsAre(false, true, false, false, true));
}

TEST(HouseholdMixes, OfNothingAreNothing) {
  EXPECT_TRUE(mixture_of({}, 1, 10, Meanwhile::kNothing).steps.empty());
}

TEST(MixArms, UnloadByTheServersHabits) {
  MixStep step;
  const HouseholdMix mix{.steps = {step, step}, .days = 1};
  step.pause_s = 299;
  EXPECT_EQ(arm_of(step, habits_of("ollama"), mix).extra.at("unloaded"), 0);
  step.pause_s = 300;
  EXPECT_EQ(arm_of(step, habits_of("ollama"), mix).extra.at("unloaded"), 1);
  EXPECT_EQ(arm_of(step, habits_of("ollama"), mix).state.weights, StateSpec::Weights::kUnloaded);
  EXPECT_EQ(arm_of(step, habits_of("hearth"), mix).extra.at("unloaded"), 0);
  EXPECT_EQ(arm_of(step, habits_of("hearth"), mix).extra.at("planned"), 2);
}

TEST(MixArms, AskWhatOneApplicationAlwaysSaysFirst) {
  MixStep step;
  step.trace_model = 4;
  step.number = 1;
  const std::string one = question_of(step, 16).prompt;
  step.number = 2;
  const std::string two = question_of(step, 16).prompt;
  EXPECT_NE(one, two);
  EXPECT_EQ(one.substr(0, 400), two.substr(0, 400));
}

Trial row(double first_token_ms, const std::string& response_class) {
  Trial trial;
  trial.study = "mix";
  trial.side = "hearth";
  trial.timing.first_token_ms = first_token_ms;
  trial.response_class = response_class;
  trial.extra["days"] = 2;
  static int number = 0;
  trial.block = ++number;
  return trial;
}

Trial repeat(double first_token_ms, const std::string& model = "") {
  Trial trial = row(first_token_ms, "");
  trial.model = model;
  trial.extra = {{"immediate_repeat", 1}};
  return trial;
}

TEST(MixHeadlines, CountWhatIsWaitedBeyondARepeatByLayer) {
  const std::vector<Trial> rows{repeat(100), row(1100, "load-cold"), row(2100, "storage-cold"),
                                row(80, "warm"), row(400, "warm")};
  const std::vector<MixHeadline> headlines = mix_headlines(rows);
  ASSERT_EQ(headlines.size(), 1U);
  const MixHeadline& headline = headlines[0];
  EXPECT_EQ(headline.requests, 4);
  EXPECT_EQ(headline.requests_a_day, 2);
  EXPECT_EQ(headline.repeat_ms, 100);
  ASSERT_TRUE(headline.seconds_a_day);
  EXPECT_NEAR(*headline.seconds_a_day, (1.0 + 2.0 + 0 + 0.3) / 2, 1e-9);
  const std::map<std::string, double>& layers = headline.seconds_a_day_by_layer;
  EXPECT_NEAR(layers.at("weights"), 0.5, 1e-9);
  EXPECT_NEAR(layers.at("pages"), 1.0, 1e-9);
  EXPECT_NEAR(layers.at("prompt"), 0.15, 1e-9);
  EXPECT_EQ(headline.p50_ms, 750);
  EXPECT_THAT(to_json(headlines), testing::HasSubstr("\"weights\":0.5"));
  EXPECT_EQ(missing_text(headline), "");
}

TEST(MixHeadlines, TakeWhatDoesNotCountToBeLikeWhatDoes) {
  std::vector<Trial> rows{repeat(100), row(1100, "load-cold"), row(2100, "storage-cold"),
                          row(9999, "load-cold")};
  rows.back().flags.push_back("busy: others");
  for (Trial& each : rows) each.extra["planned"] = 8;
  const MixHeadline headline = mix_headlines(rows).front();
  EXPECT_EQ(headline.planned, 8);
  EXPECT_EQ(headline.requests, 2);
  EXPECT_EQ(headline.requests_a_day, 4);
  EXPECT_NEAR(headline.seconds_a_day.value(), 1.5 * 4, 1e-9) << "1.5 s each, 4 a day";
  EXPECT_EQ(missing_text(headline), "2 of 8 requests count, and stand for all");
}

TEST(MixHeadlines, HoldFailedRequestsForAtLeastTheirTime) {
  std::vector<Trial> rows{repeat(100)};
  for (int n = 0; n < 18; ++n) rows.push_back(row(200, "warm"));
  for (const double ms : {60'000.0, 5.0}) {
    Trial failed = row(0, "");
    failed.timing = {};
    failed.timing.total_ms = ms;
    failed.failure = "hung: no answer";
    rows.push_back(failed);
  }
  Trial never_sent = row(0, "");
  never_sent.timing = {};
  never_sent.failure = "state: it does not start";
  rows.push_back(never_sent);
  const MixHeadline headline = mix_headlines(rows).front();
  EXPECT_EQ(headline.failed, 2);
  EXPECT_EQ(headline.requests, 18);
  EXPECT_EQ(headline.planned, 21);
  EXPECT_GT(headline.p99_ms, 40'000);
  EXPECT_GE(headline.p95_ms, 200) << "one that broke off at once is no fast one";
  EXPECT_NEAR(headline.seconds_a_day.value(), 0.1 * 21 / 2, 1e-9);
  EXPECT_THAT(missing_text(headline), testing::HasSubstr("2 got no answer"));
  EXPECT_THAT(to_json({headline}), testing::HasSubstr("\"at_least\":true"));
}

TEST(MixHeadlines, CompareWithTheRepeatsOfTheSameModel) {
  std::vector<Trial> rows{repeat(100, "small"), repeat(1000, "large"), row(200, "warm"),
                          row(1200, "warm")};
  rows[2].model = "small";
  rows[3].model = "large";
  const MixHeadline headline = mix_headlines(rows).front();
  EXPECT_NEAR(headline.seconds_a_day.value(), (0.1 + 0.2) / 2, 1e-9);
  EXPECT_EQ(headline.repeats_ms.at("large"), 1000);
  EXPECT_EQ(headline.repeat_ms, 550);
}

TEST(MixHeadlines, AreNotToldWithoutARepeat) {
  std::vector<Trial> rows{repeat(100, "small"), row(200, "warm")};
  rows[1].model = "large";
  const MixHeadline headline = mix_headlines(rows).front();
  EXPECT_FALSE(headline.seconds_a_day);
  EXPECT_TRUE(headline.seconds_a_day_by_layer.empty());
  EXPECT_THAT(headline.not_told, testing::HasSubstr("no immediate repeat of large"));
  EXPECT_THAT(to_json({headline}), testing::HasSubstr("seconds_a_day_not_told"));
  EXPECT_EQ(headline.p50_ms, 200);
}

TEST(MixHeadlines, TellTheColdLayerOfAServerThatDoesNotSay) {
  Trial trial = row(1000, "");
  EXPECT_EQ(cold_layer_of(trial), "prompt");
  trial.extra["unloaded"] = 1;
  EXPECT_EQ(cold_layer_of(trial), "weights");
  trial.before.pages = 0.4;
  EXPECT_EQ(cold_layer_of(trial), "pages");
}

TEST(MixHeadlines, OfNoRowsAreNone) { EXPECT_TRUE(mix_headlines({}).empty()); }

}  // namespace
}  // namespace hearth::lab
