// SPDX-License-Identifier: Apache-2.0
#include "cli/levels_view.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/claim_view.h"
#include "cli/display_width.h"

namespace hearth::cli {
namespace {

constexpr std::int64_t kNow = 1'700'000'125'000'000;

boost::json::object levels() {
  return boost::json::parse(R"({
  "protected": [
    {"name": "recorder", "kind": "process", "state": "harmed", "baseline_ms": 0.2, "p99_ms": 0.5,
     "psi": 12.4, "limit_percent": 110, "since_us": 1700000113000000,
     "gave_way": ["prewarming", "threads", "percent"],
     "reason": "99 % of its turns took up to 0.5 ms of late, 0.2 ms are usual; for it: 2 threads"},
    {"name": "web", "kind": "url", "state": "unknown", "baseline_ms": null, "p99_ms": null,
     "psi": null, "limit_percent": 110, "since_us": 1700000113000000, "gave_way": [],
     "reason": ""}],
  "prewarming": {"state": "held", "why": "requests are being served", "model": null,
    "allowance_bytes": 1073741824, "daily_bytes": 21474836480,
    "models": [
      {"model": "smollm2:latest", "read_bytes": 0, "used_bytes": 0, "wasted_bytes": 0,
       "unused_bytes": 0, "gib_hours": 0, "saved_s": 0, "pauses": 0, "resting_until_us": null,
       "probability": 0, "next": null},
      {"model": "gemma:latest", "read_bytes": 524288000, "used_bytes": 104857600,
       "wasted_bytes": 314572800, "unused_bytes": 104857600, "gib_hours": 1.504, "saved_s": 2.5,
       "pauses": 1, "resting_until_us": 1700079325000000, "probability": 0.83,
       "next": {"earliest_us": 1700000126000000, "likely_us": 1700001085000000,
                "latest_us": 1700014525000000}}]},
  "warmth": [
    {"model": "gemma:latest", "claim": {"ttft_ms": 300, "idle_gap_s": 28800, "state": "missed",
     "met": 10, "of": 12, "wilson_low": 0.55, "bound_ms": 2797.2, "rung": "none",
     "stands": "pages", "promise": "cannot",
     "reason": "weights given up: memory was wanted by qwen:latest",
     "given_up": [{"layer": "weights", "why": "memory was wanted by qwen:latest"},
                  {"layer": "pages", "why": "memory was wanted by qwen:latest"}],
     "last": [{"at_us": 1699999000000000, "gap_s": 30000, "ttft_ms": 250, "met": true,
               "kind": "probe", "psi_rise": 0, "harmed": false},
              {"at_us": 1699989325000000, "gap_s": 32400, "ttft_ms": 512, "met": false,
               "kind": "request", "psi_rise": 1.5, "harmed": true}],
     "probe": {"due_us": 1700003725000000, "error": null}, "idle_s": 100}},
    {"model": "smollm2:latest", "claim": {"ttft_ms": 400, "idle_gap_s": 3600, "state": "holding",
     "met": 5, "of": 5, "wilson_low": 0.566, "bound_ms": 301, "rung": "resident",
     "stands": "resident", "promise": "meets",
     "reason": "resident answers within 301 ms, and 400 ms is asked for", "given_up": [],
     "last": [], "probe": {"due_us": null, "error": "the model is busy"}, "idle_s": 4000}},
    {"model": "new:latest", "claim": null}]})")
      .get_object();
}

TEST(LevelsView, InAPipe) {
  EXPECT_EQ(
      levels_view(levels(), kNow, {}),
      "Services that come first\n"
      "SERVICE\tKIND\tSTATE\tSINCE\tUSUAL\tNOW\tAT MOST\tWAITS\tGIVEN\n"
      "recorder\tprocess\tharmed\t12 s ago\t0.2 ms\t0.5 ms\t0.2 ms\t12%\tprewarming, threads, "
      "time\n"
      "web\turl\tunknown\t12 s ago\t-\t-\t-\t-\t-\n"
      "\n"
      "recorder: 99 % of its turns took up to 0.5 ms of late, 0.2 ms are usual; for it: 2 threads\n"
      "web: what is usual is not known yet; it is learned while Hearth does nothing\n"
      "\n"
      "Reading ahead\n"
      "state     held back: requests are being served\n"
      "may read  1.00 GiB now; 20.0 GiB a day at most, and no more than earned before\n"
      "\n"
      "MODEL\tREAD\tUSED\tWASTED\tUNUSED\tGIB H\tSAVED\tCHANCE\tNEXT\n"
      "gemma:latest\t500 MiB\t100 MiB\t300 MiB\t100 MiB\t1.50\t2.50 s\t83%\t16 min (1 s to 4 h)\n"
      "smollm2:latest\t0 B\t0 B\t0 B\t0 B\t0.00\t0 ms\t0%\t-\n"
      "\n"
      "gemma:latest rests for 22 h: too little of what was read of it was used\n"
      "\n"
      "Models that have to be warm\n"
      "MODEL\tWITHIN\tAFTER\tSTATE\tMET\tNOW UP TO\tKEPT\tSTANDS\n"
      "gemma:latest\t300 ms\t8 h\tmissed\t10 of 12\t2.80 s\tnone\tpages\n"
      "smollm2:latest\t400 ms\t1 h\tholding\t5 of 5\t301 ms\tresident\tresident\n"
      "new:latest\t-\t-\tnot looked at yet\t-\t-\t-\t-\n"
      "\n"
      "gemma:latest\n"
      "  weights given up: memory was wanted by qwen:latest\n"
      "  pages given up: memory was wanted by qwen:latest\n"
      "  300 ms after 8 h without use was missed 2 of 12 times\n"
      "  missed 3 h ago, after 9 h without use: 512 ms (request); a service that comes first was "
      "harmed for it; memory pressure was 1.5 points higher for it\n"
      "  a probe is due in 1 h\n"
      "\n"
      "smollm2:latest\n"
      "  resident answers within 301 ms, and 400 ms is asked for\n"
      "  in time each time so far, which proves 57% or more with 95% confidence\n"
      "  the last probe came to nothing: the model is busy\n");
}

TEST(LevelsView, WithNothingConfigured) {
  const auto nothing = boost::json::parse(
      R"({"protected": [], "prewarming": {"state": "off", "why": "it is switched off"},
          "warmth": []})");
  EXPECT_EQ(levels_view(nothing.get_object(), kNow, {}),
            "Services that come first\n"
            "None are named. Sections [protected.\"NAME\"] of the configuration do.\n"
            "\n"
            "Reading ahead\n"
            "state     off: it is switched off\n"
            "\n"
            "Models that have to be warm\n"
            "None has to. With ttft_ms in its section of the configuration one does.\n");
  EXPECT_FALSE(levels_view({}, kNow, {}).empty());
}

TEST(LevelsView, KeepsWithinTheTerminal) {
  for (const std::size_t width : {40U, 60U, 80U, 120U}) {
    std::istringstream lines{levels_view(levels(), kNow, {.terminal = true, .width = width})};
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(ClaimNotes, NameTheBoundOfThoseThatAreBroken) {
  const ModelNotes notes = claim_notes(levels());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes.at("gemma:latest"),
            "300 ms after 8 h without use was missed 2 of 12 times; weights given up: memory was "
            "wanted by qwen:latest; a start now may take 2.80 s");
  EXPECT_TRUE(claim_notes({}).empty());
}

struct ClaimCase {
  const char* name;
  const char* claim;
  const char* note;
};

class ClaimNote : public testing::TestWithParam<ClaimCase> {};

TEST_P(ClaimNote, IsThereWhenItMatters) {
  const std::string answer =
      std::string{R"({"warmth": [{"model": "m", "claim": )"} + GetParam().claim + "}]}";
  const ModelNotes notes = claim_notes(boost::json::parse(answer).get_object());
  EXPECT_EQ(notes.empty() ? "" : notes.at("m"), GetParam().note);
}

INSTANTIATE_TEST_SUITE_P(
    Claims, ClaimNote,
    testing::Values(
        ClaimCase{"Unknown", R"({"state": "unknown", "promise": "meets"})", ""},
        ClaimCase{"Proved", R"({"state": "proved", "promise": "meets", "bound_ms": 3})", ""},
        ClaimCase{"Likely", R"({"state": "holding", "promise": "likely"})", ""},
        ClaimCase{"CannotBeMet",
                  R"({"state": "unknown", "promise": "cannot", "bound_ms": 2800,
                      "reason": "30 ms cannot be met"})",
                  "30 ms cannot be met; a start now may take 2.80 s"},
        ClaimCase{"WithoutABound", R"({"promise": "cannot", "reason": "there is no way"})",
                  "there is no way"},
        ClaimCase{"GivenUpForALowerRung",
                  R"({"promise": "meets", "bound_ms": 90, "given_up": [{"layer": "pages",
                      "why": "recorder is harmed"}]})",
                  "pages given up: recorder is harmed; a start now may take 90 ms"},
        ClaimCase{"MissedAgainstTheForecast",
                  R"({"state": "missed", "promise": "meets", "ttft_ms": 30, "idle_gap_s": 3600,
                      "met": 1, "of": 2, "bound_ms": 20, "reason": "resident answers in time"})",
                  "30 ms after 1 h without use was missed 1 of 2 times; a start now may take "
                  "20 ms"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::cli
