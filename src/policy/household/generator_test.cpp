// SPDX-License-Identifier: Apache-2.0
#include "policy/household/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace hearth::household {
namespace {

std::map<std::string, std::vector<double>> hours_by_model(const Trace& trace) {
  std::map<std::string, std::vector<double>> hours;
  for (const TraceRequest& request : trace.requests) {
    hours[trace.models[request.model].name].push_back(milliseconds_of(request.at) / 3.6e6);
  }
  return hours;
}

TEST(Generator, ASeedIsAHouseholdAndAnotherIsAnother) {
  EXPECT_EQ(to_csv(generate(7)), to_csv(generate(7)));
  EXPECT_NE(to_csv(generate(7)), to_csv(generate(8)));
}

TEST(Generator, WritesTracesThatCanBeRead) {
  const Trace trace = generate(3);
  const auto read = parse_trace(to_csv(trace));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(to_csv(*read), to_csv(trace));
}

TEST(Generator, DaysAreAsManyAsAskedFor) {
  const Trace trace = generate(5, 3);
  EXPECT_LT(trace.requests.back().at, Duration{std::chrono::hours{72}});
  EXPECT_GT(trace.requests.back().at, Duration{std::chrono::hours{71}});
}

// Mean numbers of the published fortnight, within what a fifth more or less and chance allow.
TEST(Generator, IsLikeThePublishedFortnight) {
  std::map<std::string, double> mean;
  constexpr int kSeeds = 40;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const auto& [name, hours] : hours_by_model(generate(seed))) {
      mean[name] += static_cast<double>(hours.size()) / kSeeds;
    }
  }
  const std::map<std::string, double> published{
      {"embed0.3", 1344}, {"home1b", 475}, {"vision4b", 222}, {"whisper", 63},
      {"code7b", 1032},   {"chat8b", 292}, {"chat3b", 172},   {"big14b", 8}};
  for (const auto& [name, requests] : published) {
    EXPECT_NEAR(mean[name] / requests, 1, 0.15) << name << " " << mean[name];
  }
}

TEST(Generator, KeepsEachModelsHours) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto hours = hours_by_model(generate(seed));
    for (const double hour : hours["code7b"]) EXPECT_LT(static_cast<int>(hour / 24) % 7, 5);
    for (const double hour : hours["vision4b"]) EXPECT_GE(static_cast<int>(hour) % 24, 7);
    for (const double hour : hours["big14b"]) EXPECT_GE(static_cast<int>(hour) % 24, 20);
  }
}

}  // namespace
}  // namespace hearth::household
