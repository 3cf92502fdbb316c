// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline_view.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/display_width.h"

namespace hearth::cli {
namespace {

constexpr std::int64_t kNow = 1'700'000'125'000'000;

boost::json::object request() {
  return boost::json::parse(R"({
    "request_id": "0193f2c4a7", "class": "load-cold", "cold_layer": "weights", "shared": true,
    "queued_ms": 0.4, "total_ms": 812.0, "overlap_ms": 140.2, "other_ms": 0.3,
    "stages": [
      {"name": "queue", "start_ms": 0, "ms": 0.4},
      {"name": "read", "start_ms": 1.2, "ms": 301.0, "bytes": 95700000},
      {"name": "load", "start_ms": 160.3, "ms": 280.2},
      {"name": "prefill", "start_ms": 463.0, "ms": 61.0},
      {"name": "first_decode", "start_ms": 524.0, "ms": 9.1},
      {"name": "decode", "start_ms": 533.1, "ms": 278.6}],
    "before": {
      "artifact": {"level": "local", "fraction": 1, "bytes": 95700000, "total_bytes": 95700000},
      "pages": {"level": "resident", "fraction": 0.21, "bytes": 20000000,
                "total_bytes": 95700000, "detail": "evicted 3 times"},
      "weights": {"level": "hollow", "fraction": 0, "bytes": 0, "total_bytes": 95700000},
      "compiled": {"level": "none", "fraction": 0, "bytes": 0, "total_bytes": 0},
      "prefix": {"level": "none", "fraction": 0, "bytes": 0, "total_bytes": 0},
      "worker": {"uptime_ms": 1}},
    "avoided": {"pages": {"bytes": 20000000, "ms": 63.0}, "prefix": {"tokens": 12, "ms": 4}},
    "verdict": {"code": "weights.idle", "layer": "weights", "cost_ms": 302,
      "remedy": "hearth pin smollm2 --layer weights",
      "text": "The weights of smollm2 had been given back after 41 minutes without a request."},
    "model": "smollm2:latest", "api": "openai", "path": "/v1/chat/completions", "status": 200,
    "outcome": "ok", "started_us": 1700000000000000, "prompt_tokens": 36, "cached_tokens": 12,
    "generated_tokens": 18, "ttft_ms": 533.1, "prefill_ms": 61, "decode_ms": 278.6,
    "tokens_per_s": 61.02})")
      .get_object();
}

constexpr std::string_view kPlain = R"(smollm2:latest, load-cold, 812 ms
/v1/chat/completions, 0193f2c4a7, 2 min ago

STAGE                 START     TAKES  IN THE TOTAL                        BYTES
queue                  0 ms    0.4 ms  |
read                 1.2 ms    301 ms  ###########                      91.3 MiB
load                 160 ms    280 ms        ##########
prefill              463 ms     61 ms                   ##
first_decode         524 ms    9.1 ms                     |
decode               533 ms    279 ms                      ##########
total                          812 ms
overlap                        140 ms
other                          0.3 ms

tokens    first after 533 ms; 36 in the prompt, 12 of them cached; 18 written;
          61.0 a second
class     load-cold, the weights had to be warmed, together with another request
why       weights.idle: The weights of smollm2 had been given back after 41
          minutes without a request.
cost      302 ms
remedy    hearth pin smollm2 --layer weights
before    artifact  local             91.3 MiB
          pages     resident 21%      19.1 MiB  evicted 3 times
          weights   hollow
          compiled  none
          prefix    none
saved     pages     19.1 MiB, about 63 ms
          prefix    12 tokens, about 4.0 ms
)";

TEST(TimelineView, InAPipe) { EXPECT_EQ(timeline_view(request(), kNow, {}), kPlain); }

TEST(TimelineView, OnAUnicodeTerminal) {
  const std::string view =
      timeline_view(request(), kNow, {.terminal = true, .colour = true, .unicode = true});
  EXPECT_NE(view.find("\033[1msmollm2:latest, load-cold, 812 ms\033[0m\n"), std::string::npos);
  EXPECT_NE(view.find("load                 160 ms    280 ms        ██████████▍\n"),
            std::string::npos)
      << view;
}

TEST(TimelineView, NoLineIsWiderThanItsTerminal) {
  for (const std::size_t width : {72U, 80U, 132U}) {
    std::istringstream lines{timeline_view(request(), kNow, {.terminal = true, .width = width})};
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(TimelineView, ShowsWhatWentWrong) {
  const auto failed = boost::json::parse(R"({"request_id": "7", "class": null, "model": "m",
    "path": "/v1/embeddings", "outcome": "error", "message": "the worker\u001b[2J died"})");
  EXPECT_EQ(timeline_view(failed.get_object(), kNow, {}),
            "m\n"
            "/v1/embeddings, 7\n"
            "error: the worker[2J died\n"
            "\n"
            "STAGE                 START     TAKES  IN THE TOTAL                        BYTES\n"
            "\n");
}

TEST(TimelineView, DoesNotSayTheSameTwice) {
  const auto stopped = boost::json::parse(R"({"outcome": "cancelled", "message": "cancelled"})");
  const std::string view = timeline_view(stopped.get_object(), kNow, {});
  EXPECT_NE(view.find("\ncancelled\n"), std::string::npos) << view;
}

TEST(TimelineView, AnEmptyAnswerIsNoCrash) { EXPECT_FALSE(timeline_view({}, kNow, {}).empty()); }

TEST(ReplySummary, SaysClassAndRates) {
  const boost::json::object hearth{{"class", "warm"}};
  const boost::json::object timings{{"predicted_per_second", 61.02}};
  EXPECT_EQ(reply_summary(hearth, timings, 31), "warm, first token 31 ms, 61.0 tokens/s");
  EXPECT_EQ(reply_summary({}, {}, 0), "");
}

TEST(ReplySummary, SaysWhatCameFromEarlierPrompts) {
  const auto hearth = boost::json::parse(R"json({"class": "prefix-cold", "prefix": {"live": 0,
    "memory": 64, "disk": 0, "restored_bytes": 1048576, "miss": {"reason": "diverged",
    "position": 64, "character": 310, "had": " Monday", "has": " Tuesday",
    "text": "prefix miss at token 64 (char 310)"}}})json");
  EXPECT_EQ(reply_summary(hearth.get_object(), {}, 0),
            "prefix-cold, 64 tokens from memory, 1.00 MiB read, prefix miss at token 64 (char "
            "310): had \" Monday\", now \" Tuesday\"");
}

TEST(TimelineView, SaysWhatCameFromEarlierPrompts) {
  boost::json::object told = request();
  told["prefix"] = boost::json::parse(R"({"live": 0, "memory": 64, "disk": 128,
    "restored_bytes": 1048576, "normalised": 2, "miss": {"reason": "evicted", "position": 192,
    "text": "prefix miss at token 192"}})");
  const std::string view = timeline_view(told, kNow, {.terminal = true, .width = 132});
  EXPECT_NE(view.find("restored  64 tokens from memory, 128 from disk, 1.00 MiB read\n"
                      "missed    prefix miss at token 192: it was kept, and deleted to make room\n"
                      "cut out   2 of the prompt, by prefix_normalise\n"),
            std::string::npos)
      << view;
}

}  // namespace
}  // namespace hearth::cli
