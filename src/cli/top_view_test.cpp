// SPDX-License-Identifier: Apache-2.0
#include "cli/top_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "cli/display_width.h"
#include "cli/json_fields.h"
#include "cli/model_samples.h"

namespace hearth::cli {
namespace {

using namespace std::chrono_literals;

const TopMoment kMoment{TimePoint{1h}, kNow, kNow - 3'600'000'000};

boost::json::object object(std::string_view text) { return boost::json::parse(text).get_object(); }

TopState busy_server() {
  TopState state;
  state.address = "box:11435";
  state.version = object(R"({"version": "0.9.0", "uptime_ms": 125000})");
  state.version_read = TimePoint{1h} - 3s;
  state.memory = object(R"({"limit_bytes": 440401920, "held_bytes": 157286400, "free_bytes":
      283115520, "held": [{"what": "weights", "model": "smollm2:latest", "bytes": 157286400}]})");
  state.models = {cold_model(), warm_model()};
  state.under_way = {{.id = "r1",
                      .model = "smollm2:latest",
                      .path = "/api/chat",
                      .since = TimePoint{1h} - 2s,
                      .ttft_ms = 1000.0,
                      .stages = {{"queue", 0, 1.0}, {"load", 0, 500.0}, {"decode", 1000, {}}}}};
  state.recent = {object(R"({"model": "smollm2:latest", "class": "load-cold", "outcome": "ok",
      "started_us": 1700007080000000, "ttft_ms": 812, "total_ms": 1400, "tokens_per_s": 61.02,
      "verdict": {"text": "It had been given back."}})"),
                  object(R"({"model": "cold:4b", "class": null, "outcome": "error", "message":
      "the header\nis cut off", "started_us": 1700007000000000, "total_ms": 3})")};
  state.waits = {{kNow - 1, {0, 0, 700, 0, 0, 2, 110, 0}}, {kNow - 7'200'000'000, {9e9}}};
  return state;
}

std::string frame(const TopState& state, std::size_t rows, const OutputStyle& style) {
  return fmt::format("{}\n", fmt::join(top_frame(state, kMoment, rows, style), "\n"));
}

TEST(TopView, OnATerminal) {
  EXPECT_EQ(frame(busy_server(), 40, {.terminal = true, .width = 100}),
            R"(hearth 0.9.0 at box:11435, up 2 min 8 s  live
budget    150 MiB held, 270 MiB free of 420 MiB
          wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww..........................................................
          w weights 150 MiB, . free
waited    812 ms today for 1 request; 700 ms of it for cold layers: weights 700 ms

NAME            ARTIFACT  PAGES         WEIGHTS   COMPILED  PREFIX           TTFT NOW   MEMORY
smollm2:latest  local     resident 99%  resident  none      none        21 ms (18-27)  140 MiB
cold:4b         local     resident 1%   none      none      none    ~2.10 s (0.7-6.3)        -

Under way
smollm2:latest  2.00 s  writing, first token after 1.00 s  /api/chat
  load                 500 ms  ###############
  decode               1.00 s                                ##############################

Last replies
WHEN       MODEL           CLASS      FIRST TOKEN     ALL  TOKENS/S  WHY
2 min ago  smollm2:latest  load-cold       812 ms  1.40 s      61.0  It had been given back.
3 min ago  cold:4b         -                    -  3.0 ms         -  error: the header is cut off
)");
}

TEST(TopView, SaysThatTheServerIsAway) {
  TopState state = busy_server();
  state.link = TopState::Link::kLost;
  EXPECT_EQ(top_frame(state, kMoment, 40, {.terminal = true, .colour = true, .width = 100})[0],
            "\033[1mhearth 0.9.0 at box:11435, up 2 min 8 s\033[0m  "
            "\033[31mnot connected, trying again\033[0m");
}

TEST(TopView, KeepsInsideTheTerminal) {
  TopState state = busy_server();
  for (int i = 0; i < 30; ++i) state.models.push_back(cold_model());
  for (int i = 0; i < 12; ++i) state.under_way.push_back(state.under_way[0]);
  for (int i = 0; i < 18; ++i) state.recent.push_back(state.recent[0]);
  for (const std::size_t width : {40U, 60U, 80U, 132U, 250U}) {
    for (const std::size_t rows : {1U, 5U, 12U, 24U, 50U}) {
      const auto lines = top_frame(state, kMoment, rows, {.terminal = true, .width = width});
      EXPECT_LE(lines.size(), rows) << width;
      for (const std::string& line : lines) EXPECT_LE(display_width(line), width) << line;
    }
  }
  const std::string text = frame(state, 24, {.terminal = true, .width = 80});
  EXPECT_NE(text.find("lines more"), std::string::npos);
  EXPECT_NE(text.find("Last replies"), std::string::npos);
}

TEST(TopView, OfAServerThatDoesNothing) {
  TopState state;
  state.address = "box:11435";
  const std::string text = frame(state, 0, {});
  EXPECT_NE(text.find("waited    nobody today"), std::string::npos);
  EXPECT_NE(text.find("No models yet"), std::string::npos);
  EXPECT_NE(text.find("none yet"), std::string::npos);
}

TEST(TopView, ARequestThatLoads) {
  TopState state = busy_server();
  state.under_way[0].ttft_ms.reset();
  state.under_way[0].stages = {{"spawn", 0, 40.0}, {"load", 100, {}}};
  const std::string text = frame(state, 0, {.terminal = true, .unicode = true, .width = 80});
  EXPECT_NE(text.find("smollm2:latest  2.00 s  loading  /api/chat"), std::string::npos) << text;
  EXPECT_NE(text.find("  load                 1.90 s    █"), std::string::npos) << text;
}

TEST(TopView, AsJson) {
  const boost::json::object all = top_json(busy_server(), kMoment);
  EXPECT_EQ(objects_in(all, "models").size(), 2U);
  EXPECT_EQ(objects_in(all, "running").size(), 1U);
  EXPECT_DOUBLE_EQ(number_in(*objects_in(all, "running")[0], "elapsed_ms").value_or(0), 2000);
  EXPECT_DOUBLE_EQ(number_in(part_in(all, "waited_today"), "cold_ms").value_or(0), 700);
}

}  // namespace
}  // namespace hearth::cli
