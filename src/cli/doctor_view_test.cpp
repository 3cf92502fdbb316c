// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_view.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

using namespace literals;

lab::Finding hollow() {
  return {.code = "weights.asked",
          .model = "smol:latest",
          .requests = 2,
          .cost_s = 1.5,
          .seconds_per_day = 1.5,
          .text = "2 replies, the worst: so.",
          .remedy = {"keep it", "hearth pin smol:latest", "pin", "weights"}};
}

TEST(FindingsView, SaysWhatToDoAndWhoCanDoIt) {
  lab::Finding slow{.code = "disk.slow", .text = "It is slow."};
  slow.remedy = {"move it", "", "", ""};
  EXPECT_EQ(findings_view({hollow(), slow}, {412, 5.25}, {}),
            "2 findings in 412 replies; days looked at: 5.2\n"
            "\n"
            "1  weights.asked  smol:latest  1.50 s a day\n"
            "found     2 replies, the worst: so.\n"
            "remedy    keep it\n"
            "command   hearth pin smol:latest\n"
            "or        hearth doctor --apply 1\n"
            "\n"
            "2  disk.slow  no cost seen yet\n"
            "found     It is slow.\n"
            "remedy    move it\n");
}

TEST(FindingsView, NothingIsSaidToBeNothing) {
  EXPECT_EQ(findings_view({}, {3, 1}, {}),
            "Nothing was found that is worth a change, in 3 replies; days looked at: 1.0\n");
}

TEST(FindingsView, ControlCharactersOfNamesDoNotReachTheTerminal) {
  lab::Finding strange = hollow();
  strange.model = "a\033[2Jb";
  EXPECT_EQ(findings_view({strange}, {1, 1}, {}).find('\033'), std::string::npos);
}

TEST(FactsView, ShowsWhatIsKnownAndWhatIsNot) {
  lab::Circumstances facts;
  facts.disks.push_back({"sda", "ssd", "ext4", 128_KiB, "", 2.0 * 1024 * 1024});
  facts.memory.total = 8_GiB;
  facts.memory.available = 4_GiB;
  facts.swaps.emplace();
  facts.models.push_back({.name = "smol",
                          .store = "user",
                          .size = 1_MiB,
                          .keep_alive = "5m",
                          .keep_alive_source = "OLLAMA_KEEP_ALIVE"});
  facts.not_observable.push_back({"clock", "no cpufreq"});
  EXPECT_EQ(facts_view(facts, {}),
            "disks     sda (ssd, ext4), read at 2.00 MiB/s, reads ahead 128 KiB\n"
            "memory    4.00 GiB of 8.00 GiB available\n"
            "swap      none\n"
            "stay      5m (OLLAMA_KEEP_ALIVE): smol\n"
            "caches    models (user) 1.00 MiB\n"
            "unseen    clock: no cpufreq\n");
}

TEST(CoursesView, HasALineForEachRemedy) {
  EXPECT_EQ(courses_view({}, 0, {}), "");
  lab::Course course;
  course.before = {20, 10, 10, 5};
  course.after = {4, 0, 0, 0};
  course.verdict = lab::Course::Verdict::kGone;
  const lab::Applied applied{"h", "weights.asked", "smol", "hearth pin smol", 0};
  const std::string view = courses_view({{applied, course}}, 3'600'000'000, {});
  EXPECT_NE(view.find("1 h ago\tweights.asked\tsmol\t5.00 s a day (10 of 20 replies)"),
            std::string::npos)
      << view;
  EXPECT_NE(view.find("gone"), std::string::npos);
}

}  // namespace
}  // namespace hearth::cli
