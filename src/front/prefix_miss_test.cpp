// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_miss.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

using enum VerdictCode;
using Miss = PrefixRoom::Miss;
constexpr std::nullopt_t kNothing = std::nullopt;

struct MissCase {
  const char* name;
  Miss found;
  int seen;
  int cached;  // of 1000 tokens
  std::optional<VerdictCode> reason;
  Exactness exactness = Exactness::kAsComputed;
};
void PrintTo(const MissCase& c, std::ostream* out) { *out << c.name; }

class Misses : public ::testing::TestWithParam<MissCase> {};

TEST_P(Misses, AreToldWhereMoreMightHaveBeenUsed) {
  const MissCase& c = GetParam();
  PrefixRoom::Found found;
  found.seen = c.seen;
  found.miss = c.found;
  wire::StartedMessage started;
  started.prompt_tokens = 1000;
  started.cached_tokens = c.cached;
  const PrefixUse use = prefix_use_of(found, started, c.exactness);
  ASSERT_EQ(use.miss.has_value(), c.reason.has_value());
  if (!c.reason) return;
  EXPECT_EQ(name_of(use.miss->reason), name_of(*c.reason));
  EXPECT_EQ(use.miss->position, c.cached);
}

INSTANTIATE_TEST_SUITE_P(
    Prefix, Misses,
    ::testing::Values(MissCase{"NewText", Miss::kNone, 0, 0, kNothing},
                      MissCase{"AllOfItUsed", Miss::kNone, 960, 960, kNothing},
                      MissCase{"LiveCellsHadMore", Miss::kEvicted, 960, 999, kNothing},
                      MissCase{"GoneFromAllTiers", Miss::kEvicted, 960, 0, kPrefixEvicted},
                      MissCase{"GoneButLive", Miss::kEvicted, 960, 960, kNothing},
                      MissCase{"FoundButRefused", Miss::kNone, 960, 640, kPrefixEvicted},
                      MissCase{"GoesOnOtherwise", Miss::kDiverged, 640, 640, kPrefixDiverged},
                      MissCase{"GoesOnOtherwiseAndGone", Miss::kDiverged, 640, 0, kPrefixEvicted},
                      MissCase{"Short", Miss::kShort, 0, 0, kPrefixShort},
                      MissCase{"OfOtherOptions", Miss::kOtherOptions, 0, 0, kPrefixOtherOptions},
                      MissCase{"NotRestorable", Miss::kNotRestorable, 960, 0, kPrefixNotRestorable},
                      MissCase{"NotRestorableButNew", Miss::kNotRestorable, 0, 0, kNothing},
                      MissCase{"LessThanAMicroBatch", Miss::kNone, 448, 0, kPrefixShort,
                               Exactness::kWholeBatches},
                      MissCase{"AMicroBatch", Miss::kNone, 960, 0, kPrefixEvicted,
                               Exactness::kWholeBatches}),
    [](const auto& test) { return test.param.name; });

TEST(PrefixUseOf, NamesThePlaceWherePromptsPart) {
  PrefixRoom::Found found;
  found.seen = 128;
  found.miss = Miss::kDiverged;
  wire::StartedMessage started;
  started.prompt_tokens = 1000;
  started.cached_tokens = 150;
  started.prefix.live = 22;
  started.prefix.arena = 64;
  started.prefix.disk = 64;
  started.prefix.arena_bytes = Bytes{10};
  started.prefix.disk_bytes = Bytes{20};
  started.prefix.difference = wire::PrefixOutcome::Difference{150, 700, "Mon", "Tue"};
  const PrefixUse use = prefix_use_of(found, started, Exactness::kAsComputed);
  EXPECT_EQ(use.live + use.memory + use.disk, 150);
  EXPECT_EQ(use.restored, Bytes{30});
  ASSERT_TRUE(use.miss && use.miss->difference);
  EXPECT_EQ(use.miss->position, 150);
  EXPECT_EQ(use.miss->difference->character, 700);
  EXPECT_EQ(use.miss->difference->had, "Mon");
  EXPECT_EQ(use.miss->difference->has, "Tue");
}

TEST(PrefixUseOf, SaysWhatTheWorkerCannotBringBack) {
  PrefixRoom::Found found;
  found.seen = 128;
  wire::StartedMessage started;
  started.prompt_tokens = 1000;
  started.prefix.not_restorable = "a recurrent model";
  const PrefixUse use = prefix_use_of(found, started, Exactness::kAsComputed);
  EXPECT_EQ(use.not_restorable, "a recurrent model");
  ASSERT_TRUE(use.miss);
  EXPECT_EQ(use.miss->reason, kPrefixNotRestorable);
}

}  // namespace
}  // namespace hearth::front
