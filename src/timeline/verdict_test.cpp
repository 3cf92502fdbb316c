// SPDX-License-Identifier: Apache-2.0
#include "timeline/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "timeline/response_class.h"

namespace hearth {
namespace {

using namespace literals;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;
using enum VerdictCode;
using enum StageKind;

constexpr TimePoint kFirstByte{std::chrono::hours{1}};

Stage stage(StageKind kind, int from, int to) {
  return {.kind = kind,
          .start = kFirstByte + milliseconds{from},
          .end = kFirstByte + milliseconds{to},
          .bytes = {}};
}

// Of one second.
Timeline timeline_of(const std::vector<Stage>& stages) {
  Timeline timeline;
  timeline.begin(kFirstByte);
  timeline.add(stages);
  timeline.finish(kFirstByte + seconds{1});
  return timeline;
}

struct CodeCase {
  VerdictCode code;
  const char* name;
  const char* layer;
};

constexpr CodeCase kCodes[] = {
    {kArtifactAbsent, "artifact.absent", "artifact"},
    {kArtifactPartial, "artifact.partial", "artifact"},
    {kArtifactChanged, "artifact.changed", "artifact"},
    {kPagesNeverRead, "pages.never_read", "pages"},
    {kPagesDropped, "pages.dropped", "pages"},
    {kPagesEvicted, "pages.evicted", "pages"},
    {kPagesReplaced, "pages.replaced", "pages"},
    {kPagesSwapped, "pages.swapped", "pages"},
    {kWeightsFirstUse, "weights.first_use", "weights"},
    {kWeightsIdle, "weights.idle", "weights"},
    {kWeightsAsked, "weights.asked", "weights"},
    {kWeightsEvictedFor, "weights.evicted_for", "weights"},
    {kWeightsWorkerDied, "weights.worker_died", "weights"},
    {kWeightsOptions, "weights.options", "weights"},
    {kCompiledFirst, "compiled.first", "compiled"},
    {kCompiledEngine, "compiled.engine", "compiled"},
    {kCompiledDriver, "compiled.driver", "compiled"},
    {kCompiledHardware, "compiled.hardware", "compiled"},
    {kCompiledModel, "compiled.model", "compiled"},
    {kCompiledShape, "compiled.shape", "compiled"},
    {kPrefixDiverged, "prefix.diverged", "prefix"},
    {kPrefixEvicted, "prefix.evicted", "prefix"},
    {kPrefixShort, "prefix.short", "prefix"},
    {kPrefixOtherKey, "prefix.other_key", "prefix"},
    {kPrefixOtherOptions, "prefix.other_options", "prefix"},
    {kPrefixNotRestorable, "prefix.not_restorable", "prefix"},
    {kQueueBusy, "queue.busy", ""},
    {kQueueBehindLoad, "queue.behind_load", ""},
    {kPowerRamp, "power.ramp", ""},
    {kCpuContended, "cpu.contended", ""},
    {kMemorySwapped, "memory.swapped", ""},
};

class Codes : public testing::TestWithParam<CodeCase> {};

// Facts for which `code` is the verdict.
Facts facts_for(VerdictCode code) {
  Facts facts{.model = "tiny", .prompt_tokens = 200};
  const std::string_view layer = layer_of(code);
  if (layer == "artifact") {
    facts.downloaded = 1_MiB;
    facts.artifact_cause = code;
  } else if (layer == "pages") {
    facts.bytes_read = 10_MiB;
    facts.pages_cause = code;
  } else if (layer == "weights") {
    facts.weights_loaded = true;
    facts.weights_cause = code;
    facts.evicted_for = "big";
  } else if (layer == "compiled") {
    facts.compiled = true;
    facts.compiled_cause = code;
  } else if (layer == "prefix") {
    facts.tokens_seen_before = 100;
    facts.prefix_cause = code;
  }
  if (code == kMemorySwapped) facts.swapped_in = 2_MiB;
  if (code == kQueueBusy || code == kQueueBehindLoad) facts.queued = milliseconds{400};
  facts.queued_behind_load = code == kQueueBehindLoad;
  if (code == kCpuContended || code == kPowerRamp) {
    facts.usual_prefill = code == kPowerRamp ? milliseconds{90} : milliseconds{40};
    facts.idle_before = seconds{600};
  }
  return facts;
}

Before before_for(VerdictCode code) {
  Before before;
  before.pages.fraction = 1.0;
  before.cpu_pressure = code == kCpuContended ? 40.0 : 0.0;
  return before;
}

TEST_P(Codes, HaveLayerRemedyAndOneSentence) {
  const VerdictCode code = GetParam().code;
  EXPECT_EQ(name_of(code), GetParam().name);
  EXPECT_EQ(verdict_code_named(GetParam().name), code);
  const auto verdict =
      explain(facts_for(code), timeline_of({stage(kPrefill, 0, 100)}), before_for(code));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(name_of(verdict->code), GetParam().name);
  EXPECT_EQ(verdict->layer, GetParam().layer);
  EXPECT_THAT(verdict->remedy, HasSubstr("hearth "));
  EXPECT_EQ(verdict->text.find('.'), verdict->text.size() - 1) << verdict->text;
  EXPECT_THAT(verdict->remedy + verdict->text, Not(HasSubstr("{")));
}

INSTANTIATE_TEST_SUITE_P(Verdict, Codes, testing::ValuesIn(kCodes), [](const auto& test) {
  std::string name = test.param.name;
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
});

TEST(VerdictCodes, UnknownNameIsNone) {
  EXPECT_EQ(verdict_code_named("weights.bored"), std::nullopt);
}

struct TextCase {
  const char* name;
  Facts facts;
  VerdictCode code;
  const char* says;
};
class Texts : public testing::TestWithParam<TextCase> {};

TEST_P(Texts, NameTheCause) {
  const auto verdict = explain(GetParam().facts, timeline_of({}), Before{});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(name_of(verdict->code), name_of(GetParam().code));
  EXPECT_THAT(verdict->text, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Verdict, Texts,
    testing::Values(
        TextCase{"FirstLoad", {.weights_loaded = true}, kWeightsFirstUse, "since the server"},
        TextCase{"FirstLoadOfAChangedFile",
                 {.weights_loaded = true, .weights_cause = kWeightsFirstUse, .file_changed = true},
                 kWeightsFirstUse,
                 "was changed or touched"},
        TextCase{"ALaterLoadOfIt",
                 {.weights_loaded = true, .weights_cause = kWeightsIdle, .file_changed = true},
                 kWeightsIdle,
                 "unloaded after"},
        TextCase{"MostlySwap",
                 {.bytes_read = 10_MiB, .swapped_in = 6_MiB, .pages_cause = kPagesEvicted},
                 kPagesSwapped,
                 "moved to swap and"},
        TextCase{"SomeSwap",
                 {.bytes_read = 10_MiB, .swapped_in = 4_MiB, .pages_cause = kPagesEvicted},
                 kPagesEvicted,
                 "needed the memory"},
        TextCase{"Zram",
                 {.swapped_in = 2_MiB, .swap_kind = "zram"},
                 kMemorySwapped,
                 "compressed memory (zram)"},
        TextCase{"SwapOnDisk",
                 {.swapped_in = 2_MiB, .swap_kind = "disk"},
                 kMemorySwapped,
                 "swap on disk"}),
    [](const auto& test) { return std::string{test.param.name}; });

struct CostCase {
  const char* name;
  Facts facts;
  std::vector<Stage> stages;
  int cost;
};

class Costs : public testing::TestWithParam<CostCase> {};

TEST_P(Costs, AreTheTimeOfTheColdLayer) {
  const auto verdict = explain(GetParam().facts, timeline_of(GetParam().stages), Before{});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->cost, milliseconds{GetParam().cost});
}

INSTANTIATE_TEST_SUITE_P(
    Verdict, Costs,
    testing::Values(
        CostCase{"Download",
                 {.downloaded = 1_MiB},
                 {stage(kArtifactDownload, 0, 300), stage(kArtifactVerify, 200, 350),
                  stage(kLoad, 350, 400)},
                 350},
        CostCase{"Read",
                 {.bytes_read = 9_MiB, .weights_loaded = true},
                 {stage(kRead, 0, 300), stage(kLoad, 100, 500)},
                 300},
        CostCase{"ReadBesidePrefill",
                 {.bytes_read = 9_MiB, .weights_loaded = true, .warm_prefill = milliseconds{200}},
                 {stage(kRead, 0, 600), stage(kLoad, 0, 620), stage(kPrefill, 50, 650)},
                 450},
        CostCase{"ReadHiddenByPrefill",
                 {.bytes_read = 9_MiB, .weights_loaded = true, .warm_prefill = milliseconds{600}},
                 {stage(kRead, 0, 300), stage(kPrefill, 0, 600)},
                 0},
        CostCase{"ReadBesidePrefillOfUnknownLength",
                 {.bytes_read = 9_MiB, .weights_loaded = true},
                 {stage(kRead, 0, 600), stage(kPrefill, 50, 650)},
                 600},
        CostCase{"PrefillFasterThanUsual",
                 {.bytes_read = 9_MiB, .weights_loaded = true, .warm_prefill = seconds{9}},
                 {stage(kRead, 0, 600), stage(kPrefill, 500, 650)},
                 500},
        CostCase{"PrefillAfterTheRead",
                 {.bytes_read = 9_MiB, .weights_loaded = true, .warm_prefill = milliseconds{10}},
                 {stage(kRead, 0, 300), stage(kPrefill, 300, 700)},
                 300},
        CostCase{"LoadBesidePrefill",
                 {.weights_loaded = true, .warm_prefill = milliseconds{300}},
                 {stage(kLoad, 0, 200), stage(kContext, 0, 20), stage(kPrefill, 30, 400)},
                 100},
        CostCase{"ReadByFaultsInALoad",
                 {.bytes_read = 9_MiB, .weights_loaded = true},
                 {stage(kLoad, 100, 500)},
                 400},
        CostCase{"ReadByFaultsInPrefill",
                 {.bytes_read = 9_MiB, .usual_prefill = milliseconds{100}},
                 {stage(kPrefill, 0, 350)},
                 250},
        CostCase{"SpawnLoadContext",
                 {.spawned = true, .weights_loaded = true},
                 {stage(kSpawn, 0, 100), stage(kLoad, 100, 400), stage(kContext, 380, 450)},
                 450},
        CostCase{
            "Compile", {.compiled = true}, {stage(kCompile, 10, 60), stage(kPrefill, 60, 90)}, 50},
        CostCase{"PrefixShareOfPrefill",
                 {.prompt_tokens = 300, .cached_tokens = 100, .tokens_seen_before = 200},
                 {stage(kPrefill, 0, 400)},
                 200},
        CostCase{"Queue", {.queued = milliseconds{300}}, {stage(kQueue, 0, 300)}, 300}),
    [](const auto& test) { return std::string{test.param.name}; });

struct WarmCase {
  const char* name;
  Facts facts;
  std::vector<Stage> stages;
  double cpu_pressure;
  double pages;
  std::optional<VerdictCode> expected;
};

class Warm : public testing::TestWithParam<WarmCase> {};

TEST_P(Warm, IsExplainedOnlyByWhatIsNoCache) {
  Before before;
  before.cpu_pressure = GetParam().cpu_pressure;
  before.pages.fraction = GetParam().pages;
  ASSERT_EQ(classify(GetParam().facts), ResponseClass::kWarm);
  const auto verdict = explain(GetParam().facts, timeline_of(GetParam().stages), before);
  EXPECT_EQ(verdict ? std::optional{verdict->code} : std::nullopt, GetParam().expected);
}

const Facts kRampedFacts{.usual_prefill = milliseconds{100}, .idle_before = seconds{60}};
Facts ramped_but(Facts facts) {
  facts.usual_prefill = kRampedFacts.usual_prefill;
  facts.idle_before = kRampedFacts.idle_before;
  return facts;
}

INSTANTIATE_TEST_SUITE_P(
    Verdict, Warm,
    testing::Values(
        WarmCase{"Plain", {}, {stage(kPrefill, 0, 900)}, 90, 1, {}},
        WarmCase{"QueuedAFifth", {}, {stage(kQueue, 0, 200)}, 0, 1, {}},
        WarmCase{"QueuedMore", {}, {stage(kQueue, 0, 201)}, 0, 1, kQueueBusy},
        WarmCase{"BehindLoad",
                 {.queued_behind_load = true},
                 {stage(kQueue, 0, 500)},
                 0,
                 1,
                 kQueueBehindLoad},
        WarmCase{"ContendedNeedsPressure",
                 {.usual_prefill = milliseconds{100}},
                 {stage(kPrefill, 0, 300)},
                 9,
                 1,
                 {}},
        WarmCase{"Contended",
                 {.usual_prefill = milliseconds{100}},
                 {stage(kPrefill, 0, 300)},
                 10,
                 1,
                 kCpuContended},
        WarmCase{"ContendedALittle",
                 {.usual_prefill = milliseconds{100}},
                 {stage(kPrefill, 0, 140)},
                 90,
                 1,
                 {}},
        WarmCase{"ContendedOfALongPrefill",
                 {.usual_prefill = milliseconds{600}},
                 {stage(kPrefill, 0, 700)},
                 90,
                 1,
                 {}},
        WarmCase{"Ramp", kRampedFacts, {stage(kPrefill, 0, 120)}, 0, 1, kPowerRamp},
        WarmCase{"RampOfSecondsIsNone", kRampedFacts, {stage(kPrefill, 0, 151)}, 0, 1, {}},
        WarmCase{"RampTooSmallToTell", kRampedFacts, {stage(kPrefill, 0, 101)}, 0, 1, {}},
        WarmCase{"RampNotWhenRead",
                 ramped_but({.bytes_read = Bytes{4096}}),
                 {stage(kPrefill, 0, 120)},
                 0,
                 1,
                 {}},
        WarmCase{"RampNotWithFaults",
                 ramped_but({.major_faults = 1}),
                 {stage(kPrefill, 0, 120)},
                 0,
                 1,
                 {}},
        WarmCase{"RampNotWithMissingPages", kRampedFacts, {stage(kPrefill, 0, 120)}, 0, 0.99, {}},
        WarmCase{"RampNotWithoutIdling",
                 {.usual_prefill = milliseconds{100}},
                 {stage(kPrefill, 0, 120)},
                 0,
                 1,
                 {}},
        WarmCase{"Swapped", {.swapped_in = 2_MiB}, {stage(kQueue, 0, 900)}, 0, 1, kMemorySwapped},
        WarmCase{"SwappedAPage", {.swapped_in = Bytes{4096}}, {}, 0, 1, {}}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(Verdict, HintOfAnotherLayerIsIgnored) {
  const Facts facts{.weights_loaded = true, .weights_cause = kPagesEvicted};
  EXPECT_EQ(explain(facts, timeline_of({}), Before{})->code, kWeightsFirstUse);
}

TEST(Verdict, OfAnIdleModelNamesItsKeepAliveAndWhoSetIt) {
  Facts facts{.model = "tiny", .weights_loaded = true, .prompt_tokens = 3};
  facts.weights_cause = VerdictCode::kWeightsIdle;
  facts.keep_alive = "5m0s";
  const auto remedy_with = [&facts](const char* source) {
    facts.keep_alive_source = source;
    return explain(facts, timeline_of({}), Before{})->remedy;
  };
  EXPECT_EQ(remedy_with("request"),
            "keep it longer than the keep_alive of 5m0s from the request; or for good: hearth pin "
            "tiny");
  EXPECT_THAT(remedy_with("configuration"), testing::HasSubstr("5m0s from the configuration"));
  EXPECT_THAT(remedy_with("OLLAMA_KEEP_ALIVE"), testing::HasSubstr("from OLLAMA_KEEP_ALIVE"));
  facts.keep_alive.clear();
  EXPECT_THAT(remedy_with(""), testing::HasSubstr("than its keep_alive;"));
}

TEST(Verdict, NamesTheModelAndTheOneThatTookItsRoom) {
  const Facts facts{.model = "{other}",
                    .weights_loaded = true,
                    .weights_cause = kWeightsEvictedFor,
                    .evicted_for = "big:7b"};
  const auto verdict = explain(facts, timeline_of({stage(kLoad, 0, 410)}), Before{});
  EXPECT_EQ(verdict->text, "{other} had to make room for big:7b; this cost 410 ms.");
  EXPECT_EQ(verdict->remedy,
            "raise the memory budget; or load it ahead of time: hearth load {other}");
}

}  // namespace
}  // namespace hearth
