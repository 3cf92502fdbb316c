// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/diagnosis.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hearth::lab {
namespace {

using namespace literals;

constexpr std::int64_t kNow = 1'800'000'000'000'000;
constexpr std::int64_t kDay = 86'400'000'000;

PastReply reply(const char* code, double cost_ms, std::int64_t age_us = kDay / 2) {
  PastReply one;
  one.started_us = kNow - age_us;
  one.model = "smol:latest";
  one.response_class = "load-cold";
  one.code = code;
  one.text = "It had to be so.";
  one.cost_ms = cost_ms;
  return one;
}

PastReply read_at(double mib_per_s) {
  PastReply one = reply("pages.dropped", 500);
  one.response_class = "storage-cold";
  one.read = 100_MiB;
  one.read_ms = 100 / mib_per_s * 1000;
  return one;
}

std::vector<std::string> codes(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings) names.push_back(finding.code);
  return names;
}

std::vector<std::string> codes_of(const std::vector<PastReply>& replies,
                                  const Circumstances& facts = {}) {
  return codes(diagnose(facts, replies, kNow));
}

using Names = std::vector<std::string>;

TEST(Diagnosis, NothingComesOfNothing) {
  EXPECT_EQ(codes_of({}), Names{});
  EXPECT_EQ(codes_of({reply("", 0), reply("", 0)}), Names{});
}

struct FaultCase {
  const char* code;
  const char* command;  // that its remedy begins with
  const char* action;   // of the API; empty: none
};

class Faults : public ::testing::TestWithParam<FaultCase> {};

TEST_P(Faults, AreNamedFromTheFirstReplyOnWithOneRemedy) {
  const std::vector<PastReply> replies{reply(GetParam().code, 800)};
  const std::vector<Finding> findings = diagnose({}, replies, kNow);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().code, GetParam().code);
  EXPECT_EQ(findings.front().model, "smol:latest");
  EXPECT_DOUBLE_EQ(findings.front().seconds_per_day, 0.8);
  EXPECT_FALSE(findings.front().remedy.text.empty());
  EXPECT_TRUE(findings.front().remedy.command.starts_with(GetParam().command))
      << findings.front().remedy.command;
  EXPECT_EQ(findings.front().remedy.action, GetParam().action);
}

INSTANTIATE_TEST_SUITE_P(
    Diagnosis, Faults,
    ::testing::Values(
        FaultCase{"pages.evicted", "hearth pin smol:latest --layer pages", "pin"},
        FaultCase{"pages.dropped", "hearth pin smol:latest --layer pages", "pin"},
        FaultCase{"pages.replaced", "hearth warm smol:latest --layer pages", "warm"},
        FaultCase{"weights.asked", "hearth pin smol:latest", "pin"},
        FaultCase{"weights.idle", "hearth pin smol:latest", "pin"},
        FaultCase{"weights.worker_died", "journalctl", ""},
        FaultCase{"compiled.engine", "hearth warm smol:latest --layer compiled", "warm"},
        FaultCase{"compiled.shape", "hearth warm smol:latest --layer compiled", "warm"},
        FaultCase{"prefix.diverged", "prefix_normalise", ""},
        FaultCase{"prefix.evicted", "prefix_memory_mib = 256", ""},
        FaultCase{"memory.swapped", "hearth memory", ""}),
    [](const auto& test) {
      std::string name = test.param.code;
      name[name.find('.')] = '_';
      return name;
    });

TEST(Diagnosis, WhatIsOrdinaryTakesTwoRepliesAndASecondADay) {
  EXPECT_EQ(codes_of({reply("weights.first_use", 9000)}), Names{});
  EXPECT_EQ(codes_of({reply("power.ramp", 20), reply("power.ramp", 30)}), Names{});
  EXPECT_EQ(codes_of({reply("weights.first_use", 600), reply("weights.first_use", 600)}),
            Names{"weights.first_use"});
}

TEST(Diagnosis, OneBusyMomentIsNoBusyNeighbour) {
  const PastReply busy = reply("cpu.contended", 300);
  EXPECT_EQ(codes_of({busy, busy}), Names{});
  EXPECT_EQ(codes_of({busy, busy, busy}), Names{"cpu.contended"});
}

TEST(Diagnosis, WhatCostsMostComesFirst) {
  EXPECT_EQ(codes_of({reply("pages.dropped", 100), reply("weights.asked", 900),
                      reply("weights.asked", 900), reply("prefix.evicted", 500)}),
            (Names{"weights.asked", "prefix.evicted", "pages.dropped"}));
}

TEST(Diagnosis, DaysAreThoseOfTheHistory) {
  const std::vector<PastReply> hour{reply("weights.asked", 1000, kDay / 24)};
  const std::vector<PastReply> days{reply("weights.asked", 1000, 4 * kDay)};
  const std::vector<PastReply> month{reply("weights.asked", 1000, 30 * kDay)};
  EXPECT_DOUBLE_EQ(days_of(hour, kNow), 1);
  EXPECT_DOUBLE_EQ(days_of(days, kNow), 4);
  EXPECT_DOUBLE_EQ(days_of(month, kNow), kDays);
  EXPECT_DOUBLE_EQ(diagnose({}, days, kNow).front().seconds_per_day, 0.25);
}

TEST(Diagnosis, ASlowDeviceIsToldByWhatItRead) {
  EXPECT_EQ(codes_of({read_at(20)}), (Names{"disk.slow", "pages.dropped"}));
  EXPECT_EQ(codes_of({read_at(900)}), Names{"pages.dropped"});
  PastReply little = read_at(2);
  little.read = 1_MiB;
  EXPECT_EQ(codes_of({little}), Names{"pages.dropped"});
}

TEST(Diagnosis, MemoryIsShortWhereItCostSomethingAndModelsDoNotFit) {
  Circumstances facts;
  facts.models.push_back({.name = "smol:latest", .store = "user", .size = 300_MiB});
  facts.memory.limit = 200_MiB;
  facts.memory.limit_reason = "as configured";
  const std::vector<PastReply> made_room{reply("weights.evicted_for", 400)};
  EXPECT_EQ(codes_of(made_room, facts), (Names{"weights.evicted_for", "memory.limit"}));
  EXPECT_EQ(codes_of({reply("", 0)}, facts), Names{});
  facts.memory.limit = 900_MiB;
  EXPECT_EQ(codes_of(made_room, facts), Names{"weights.evicted_for"});
}

TEST(Diagnosis, AGroupAroundTheServerLimitsToo) {
  Circumstances facts;
  facts.models.push_back({.name = "smol:latest", .store = "user", .size = 300_MiB});
  facts.memory.limit = 350_MiB;
  facts.memory.cgroup = "/sys/fs/cgroup/hearth";
  facts.memory.cgroup_limit = 400_MiB;
  const std::vector<PastReply> replies{reply("pages.evicted", 400)};
  const std::vector<Finding> findings = diagnose(facts, replies, kNow);
  EXPECT_EQ(codes(findings), (Names{"pages.evicted", "memory.limit"}));
  EXPECT_TRUE(findings.front().remedy.command.starts_with("systemctl set-property"));
}

TEST(Diagnosis, AHeadThatChangesTakesThePlaceOfItsVerdict) {
  Circumstances facts;
  facts.volatile_heads.push_back({"smol:latest", "It changes at token 12.", "move it", 7});
  const std::vector<PastReply> replies{reply("prefix.diverged", 300)};
  const std::vector<Finding> findings = diagnose(facts, replies, kNow);
  EXPECT_EQ(codes(findings), Names{"prefix.volatile_head"});
  EXPECT_DOUBLE_EQ(findings.front().cost_s, 0.3);
  EXPECT_EQ(findings.front().remedy.text, "move it");
}

TEST(Diagnosis, FactsAloneAreFindingsWithoutACost) {
  Circumstances facts;
  facts.disks.push_back({.name = "sda",
                         .kind = "rotational",
                         .file_system = "ext4",
                         .read_ahead = 64_KiB,
                         .finding = "it reads 64 KiB ahead: echo 1024 | sudo tee /sys/x",
                         .bytes_per_s = {}});
  facts.layers_off = {"prefix"};
  const std::vector<Finding> findings = diagnose(facts, {}, kNow);
  ASSERT_EQ(codes(findings), (Names{"layer.off", "disk.read_ahead"}));
  EXPECT_EQ(findings[1].remedy.command, "echo 1024 | sudo tee /sys/x");
  EXPECT_EQ(findings[1].seconds_per_day, 0);
}

TEST(Diagnosis, WhoSaysHowLongAModelStaysIsNamed) {
  Circumstances facts;
  facts.models.push_back({.name = "smol:latest",
                          .store = "user",
                          .size = 1_MiB,
                          .need = {},
                          .keep_alive = "5m",
                          .keep_alive_source = "OLLAMA_KEEP_ALIVE"});
  const std::vector<PastReply> replies{reply("weights.idle", 300)};
  const std::vector<Finding> findings = diagnose(facts, replies, kNow);
  EXPECT_NE(findings.front().remedy.text.find("the 5m that OLLAMA_KEEP_ALIVE says"),
            std::string::npos);
}

}  // namespace
}  // namespace hearth::lab
