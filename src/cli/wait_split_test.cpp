// SPDX-License-Identifier: Apache-2.0
#include "cli/wait_split.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

struct SplitCase {
  const char* name;
  const char* entry;
  WaitSplit split;
};

class WaitSplitOf : public testing::TestWithParam<SplitCase> {};

TEST_P(WaitSplitOf, AddsUpToTheWait) {
  const auto entry = boost::json::parse(GetParam().entry).get_object();
  const WaitSplit split = wait_split(entry);
  for (std::size_t i = 0; i < split.size(); ++i) {
    EXPECT_DOUBLE_EQ(split[i], GetParam().split[i]) << kWaitParts[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    History, WaitSplitOf,
    testing::Values(
        SplitCase{"TheColdestCountsOfWhatOverlaps",
                  R"({"total_ms": 500, "ttft_ms": 100, "stages": [
                      {"name": "queue", "start_ms": 0, "ms": 10},
                      {"name": "read", "start_ms": 10, "ms": 40},
                      {"name": "load", "start_ms": 20, "ms": 50},
                      {"name": "prefill", "start_ms": 40, "ms": 50}]})",
                  {0, 40, 20, 0, 0, 10, 20, 10}},
        SplitCase{"WhatComesAfterTheFirstTokenDoesNot",
                  R"({"total_ms": 500, "ttft_ms": 100, "stages": [
                      {"name": "prefill", "start_ms": 0, "ms": 100},
                      {"name": "decode", "start_ms": 100, "ms": 400}]})",
                  {0, 0, 0, 0, 0, 0, 100, 0}},
        SplitCase{"WithoutAFirstTokenAllOfIt",
                  R"({"total_ms": 80, "stages": [{"name": "load", "start_ms": 0, "ms": 80}]})",
                  {0, 0, 80, 0, 0, 0, 0, 0}},
        SplitCase{"AMissingPrefixIsPaidForInThePrompt",
                  R"({"total_ms": 90, "ttft_ms": 90, "verdict": {"layer": "prefix", "cost_ms": 60},
                      "stages": [{"name": "prefill", "start_ms": 0, "ms": 90}]})",
                  {0, 0, 0, 0, 60, 0, 30, 0}},
        SplitCase{"NothingIsKnown", R"({"total_ms": 7})", {0, 0, 0, 0, 0, 0, 0, 7}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::cli
