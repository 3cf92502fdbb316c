// SPDX-License-Identifier: Apache-2.0
#include "cli/prefix_view.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

boost::json::object object(std::string_view text) { return boost::json::parse(text).get_object(); }

constexpr std::string_view kView = R"({
  "memory": {"bytes": 41943040, "limit": 1073741824, "blocks": 27},
  "disk": {"bytes": 20971520, "limit": 10737418240, "blocks": 13, "written_today": 20971520,
           "daily_limit": 10737418240},
  "lookups": 12, "hit_tokens": 17000, "missed_tokens": 3000,
  "evicted": {"memory": 3, "disk": 0}, "refused": {"checksum": 1},
  "restore": {"memory_bytes_per_s": 2147483648, "disk_bytes_per_s": 0}, "saved_seconds": 95.5,
  "models": [
    {"model": "smollm2:latest", "live_tokens": 1700, "memory_tokens": 1664, "disk_tokens": 832,
     "memory_bytes": 41943040, "disk_bytes": 20971520,
     "slots": [{"tokens": 1700, "busy": true}, {"tokens": 0, "busy": false}]},
    {"model": "rwkv:latest", "live_tokens": 0, "memory_tokens": 0, "disk_tokens": 0,
     "memory_bytes": 0, "disk_bytes": 0, "not_restorable": "its layers are recurrent",
     "slots": []}],
  "modules": [],
  "findings": [{"code": "prefix.volatile_head", "text": "Prompts to smollm2:latest change.",
                "remedy": "move it to the end"}]})";

TEST(PrefixView, InAPipe) {
  EXPECT_EQ(prefix_view(object(kView), {}),
            "memory    40.0 MiB of 1.00 GiB, 27 blocks\n"
            "disk      20.0 MiB of 10.0 GiB, 13 blocks; 20.0 MiB of 10.0 GiB written today\n"
            "reused    17,000 of 20,000 prompt tokens in 12 lookups; about 1 min 36 s saved\n"
            "restored  2.00 GiB/s from memory\n"
            "evicted   3 memory\n"
            "refused   1 checksum\n"
            "\n"
            "MODEL\tLIVE\tIN MEMORY\tON DISK\tMEMORY\tDISK\tSLOTS\n"
            "smollm2:latest\t1,700\t1,664\t832\t40.0 MiB\t20.0 MiB\t1,700* 0\n"
            "rwkv:latest\t0\t0\t0\t0 B\t0 B\t\n"
            "\n"
            "rwkv:latest cannot be brought back: its layers are recurrent\n"
            "\n"
            "prefix.volatile_head: Prompts to smollm2:latest change.\n"
            "remedy    move it to the end\n");
}

TEST(PrefixView, AnEmptyAnswerIsNoCrash) { EXPECT_FALSE(prefix_view({}, {}).empty()); }

TEST(PrefixView, ColoursAreForTerminals) {
  const std::string view = prefix_view(object(kView), {.terminal = true, .colour = true});
  EXPECT_NE(view.find("\033["), std::string::npos);
  EXPECT_NE(view.find("prefix.volatile_head"), std::string::npos);
}

struct WordsCase {
  const char* name;
  const char* prefix;
  const char* restored;
  const char* miss;
};

class PrefixWords : public ::testing::TestWithParam<WordsCase> {};

TEST_P(PrefixWords, SayWhereItCameFromAndWhatWasMissed) {
  const boost::json::object prefix = object(GetParam().prefix);
  EXPECT_EQ(restored_text(prefix), GetParam().restored);
  EXPECT_EQ(miss_text(prefix), GetParam().miss);
}

INSTANTIATE_TEST_SUITE_P(
    Replies, PrefixWords,
    ::testing::Values(
        WordsCase{"Nothing", "{}", "", ""},
        WordsCase{"Live", R"({"live": 12, "memory": 0, "disk": 0, "restored_bytes": 0})",
                  "12 tokens from live cells", ""},
        WordsCase{"AllTiers",
                  R"({"live": 1, "memory": 1600, "disk": 64, "restored_bytes": 41943040})",
                  "1 token from live cells, 1,600 from memory, 64 from disk, 40.0 MiB read", ""},
        WordsCase{"Diverged", R"json({"miss": {"reason": "diverged", "position": 12,
                  "character": 80, "had": " 28\n", "has": " 29",
                  "text": "prefix miss at token 12 (char 80)"}})json",
                  "", R"json(prefix miss at token 12 (char 80): had " 28\n", now " 29")json"},
        WordsCase{"WithoutTexts", R"({"miss": {"reason": "diverged", "position": 12,
                  "text": "prefix miss at token 12"}})",
                  "",
                  "prefix miss at token 12: an earlier prompt begins alike and goes on otherwise"},
        WordsCase{"Evicted", R"({"miss": {"reason": "evicted", "position": 64,
                  "text": "prefix miss at token 64"}})",
                  "", "prefix miss at token 64: it was kept, and deleted to make room"},
        WordsCase{"ANewerServersReason", R"({"miss": {"reason": "moon", "text": "prefix miss"}})",
                  "", "prefix miss"}),
    [](const auto& test) { return std::string{test.param.name}; });

}  // namespace
}  // namespace hearth::cli
