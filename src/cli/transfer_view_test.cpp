// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer_view.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

const OutputStyle kTerminal{.terminal = true, .width = 120};

boost::json::object done_of(boost::json::object done) { return {{"done", std::move(done)}}; }

TEST(PulledSentence, SaysWhatCameAndHowFast) {
  EXPECT_EQ(pulled_sentence(done_of({{"name", "smol:latest"},
                                     {"bytes", 100 << 20},
                                     {"received_bytes", 100 << 20},
                                     {"download_ms", 2000.0}})),
            "pulled smol:latest (100 MiB) in 2.00 s, 50.0 MiB/s\n");
  EXPECT_EQ(pulled_sentence(
                done_of({{"name", "smol:latest"}, {"bytes", 100 << 20}, {"was_there", true}})),
            "smol:latest (100 MiB) was here already\n");
}

TEST(PullsTable, SaysHowFarEachIs) {
  const boost::json::array pulls{
      {{"name", "a:latest"},
       {"source", "hf.co/o/a"},
       {"state", "running"},
       {"done_bytes", 1 << 20},
       {"total_bytes", 4 << 20},
       {"bytes_per_s", 1048576.0}},
      {{"name", "b:latest"}, {"source", "b"}, {"state", "failed"}, {"reason", "no room"}}};
  EXPECT_EQ(pulls_table(pulls, {}),
            "NAME\tSOURCE\tDONE\tSPEED\tSTATE\n"
            "a:latest\thf.co/o/a\t25% of 4.00 MiB\t1.00 MiB/s\trunning\n"
            "b:latest\tb\t-\t-\tfailed: no room\n");
}

TEST(VerifiedLine, SaysWhatToDoWhereItIsBad) {
  EXPECT_EQ(verified_line({{"model", "a:latest"}, {"verdict", "good"}, {"bytes", 1 << 20}}, {}),
            "good      a:latest  1.00 MiB\n");
  EXPECT_EQ(verified_line({{"model", "a:latest"},
                           {"verdict", "rotten"},
                           {"bytes", 1 << 20},
                           {"text", "pull it again"}},
                          {}),
            "rotten    a:latest  1.00 MiB\n          pull it again\n");
}

TEST(AllGood, OneRottenModelIsNot) {
  const auto done = [](const char* verdict) {
    return boost::json::object{
        {"verified", boost::json::array{{{"verdict", "good"}}, {{"verdict", verdict}}}}};
  };
  EXPECT_TRUE(all_good(done("repaired")));
  EXPECT_FALSE(all_good(done("rotten")));
  EXPECT_FALSE(all_good(done("missing")));
  EXPECT_TRUE(all_good({}));
}

TEST(PrunableText, SaysHowToDelete) {
  boost::json::object answer{{"dry_run", true}, {"bytes", 1 << 20}};
  answer["items"] = boost::json::array{{{"kind", "partial"},
                                        {"bytes", 1 << 20},
                                        {"what", "hf.co/o/a"},
                                        {"why", "stopped 20 days ago"}}};
  const std::string shown = prunable_text(answer, kTerminal);
  EXPECT_NE(shown.find("hf.co/o/a"), std::string::npos);
  EXPECT_NE(shown.find("`hearth prune --yes` deletes them"), std::string::npos);
  answer["dry_run"] = false;
  EXPECT_NE(prunable_text(answer, kTerminal).find("1.00 MiB are free again"), std::string::npos);
  EXPECT_EQ(prunable_text({}, {}), "");
}

TEST(CoolPreviewText, SaysWhatWouldGoAndComeAgain) {
  const boost::json::object preview{{"model", "a:latest"},    {"source", "hf.co/o/a"},
                                    {"freed_bytes", 1 << 20}, {"fetch_bytes", 2 << 20},
                                    {"files", {"/d/blob"}},   {"also", {"b:latest"}}};
  EXPECT_EQ(cool_preview_text(preview),
            "a:latest: 1.00 MiB would be freed\n"
            "  2.00 MiB would be fetched again from hf.co/o/a\n"
            "  /d/blob\n"
            "  also known as b:latest\n");
}

}  // namespace
}  // namespace hearth::cli
