// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/read_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace hearth {
namespace {

using namespace literals;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Fit = ReadNeed::Fit;
using Purpose = ReadNeed::Purpose;

Device device_of_kind(DeviceKind kind) {
  Device device;
  device.kind = kind;
  device.file_system = "ext4";
  return device;
}

ReadStyle style(ReadWay way, int readers) {
  ReadStyle made;
  made.way = way;
  made.readers = readers;
  return made;
}

StyleRate rate(ReadWay way, int readers, double mb_per_s, int reads = 5) {
  return {style(way, readers), mb_per_s * 1e6, reads};
}

// Small enough for no experiment.
constexpr Bytes kSmall = 10_MiB;

struct ChoiceCase {
  const char* name;
  DeviceKind kind;
  DeviceRates rates;
  ReadNeed need;
  ReadStyle wanted;
  const char* why;
};
void PrintTo(const ChoiceCase& c, std::ostream* out) { *out << c.name; }
class Choices : public ::testing::TestWithParam<ChoiceCase> {};

TEST_P(Choices, FollowWhatWasMeasured) {
  Random random{1};
  const ReadChoice choice =
      choose_read(device_of_kind(GetParam().kind), GetParam().rates, GetParam().need, random);
  EXPECT_EQ(choice.style, GetParam().wanted);
  EXPECT_THAT(choice.why, HasSubstr(GetParam().why));
}

constexpr ReadNeed kLoad{kSmall, Fit::kFits, Purpose::kLoad};
constexpr ReadNeed kTooLarge{kSmall, Fit::kTooLarge, Purpose::kLoad};
constexpr ReadNeed kWarmUp{kSmall, Fit::kTooLarge, Purpose::kWarmUp};
constexpr auto kBuffered = ReadWay::kBuffered;
constexpr auto kDirect = ReadWay::kDirect;

INSTANTIATE_TEST_SUITE_P(
    Pages, Choices,
    ::testing::Values(ChoiceCase{"NothingIsKnown",
                                 DeviceKind::kUnknown,
                                 {},
                                 kLoad,
                                 style(kBuffered, 2),
                                 "nothing measured"},
                      ChoiceCase{"HeadsGetOneReader",
                                 DeviceKind::kRotational,
                                 {},
                                 kLoad,
                                 style(kBuffered, 1),
                                 "nothing measured"},
                      ChoiceCase{"MemoryIsMapped",
                                 DeviceKind::kMemory,
                                 {rate(kBuffered, 8, 9000)},
                                 kTooLarge,
                                 style(ReadWay::kMapped, 1),
                                 "lies in memory"},
                      ChoiceCase{"TheFastest",
                                 DeviceKind::kSolid,
                                 {rate(kBuffered, 2, 1000), rate(kBuffered, 8, 2500),
                                  rate(kBuffered, 4, 2000)},
                                 kLoad,
                                 style(kBuffered, 8),
                                 "2500 MB/s"},
                      ChoiceCase{"NearlyAsFastIsNoReason",
                                 DeviceKind::kSolid,
                                 {rate(kBuffered, 2, 1000), rate(kBuffered, 8, 1050)},
                                 kLoad,
                                 style(kBuffered, 2),
                                 "1000 MB/s"},
                      ChoiceCase{"DirectWhenItDoesNotFit",
                                 DeviceKind::kSolid,
                                 {rate(kBuffered, 2, 1000)},
                                 kTooLarge,
                                 style(kDirect, 2),
                                 "more than the page cache can hold"},
                      ChoiceCase{"DirectByItsOwnRates",
                                 DeviceKind::kSolid,
                                 {rate(kBuffered, 8, 3000), rate(kDirect, 4, 2000)},
                                 kTooLarge,
                                 style(kDirect, 4),
                                 "2000 MB/s"},
                      ChoiceCase{"WarmUpsFillThePageCache",
                                 DeviceKind::kSolid,
                                 {rate(kDirect, 2, 9000)},
                                 kWarmUp,
                                 style(kBuffered, 2),
                                 ""},
                      ChoiceCase{"DirectWhenClearlyFaster",
                                 DeviceKind::kSolid,
                                 {rate(kBuffered, 2, 1000), rate(kDirect, 2, 2100)},
                                 kLoad,
                                 style(kDirect, 2),
                                 "clearly faster"},
                      ChoiceCase{"FasterIsNotClearlyFaster",
                                 DeviceKind::kSolid,
                                 {rate(kBuffered, 2, 1000), rate(kDirect, 2, 1900)},
                                 kLoad,
                                 style(kBuffered, 2),
                                 "1000 MB/s"},
                      ChoiceCase{"OneReadIsNotSure",
                                 DeviceKind::kSolid,
                                 {rate(kBuffered, 2, 1000), rate(kDirect, 2, 5000, 1)},
                                 kLoad,
                                 style(kBuffered, 2),
                                 "1000 MB/s"},
                      ChoiceCase{"NeverDirectOnFuse",
                                 DeviceKind::kUser,
                                 {rate(kDirect, 2, 9000)},
                                 kTooLarge,
                                 style(kBuffered, 2),
                                 "nothing measured"},
                      ChoiceCase{"DepthsThatHeadsHaveNot",
                                 DeviceKind::kRotational,
                                 {rate(kBuffered, 8, 900)},
                                 kLoad,
                                 style(kBuffered, 1),
                                 "nothing measured"}),
    [](const auto& test) { return test.param.name; });

TEST(ReadChoice, NeverDirectOnAnOverlay) {
  Device device = device_of_kind(DeviceKind::kUnknown);
  device.stacked = true;
  Random random{1};
  EXPECT_EQ(choose_read(device, {}, kTooLarge, random).style.way, kBuffered);
}

// What a thousand reads of a size are done in.
std::vector<ReadStyle> thousand(const ReadNeed& need, DeviceKind kind) {
  Random random{7};
  std::vector<ReadStyle> chosen;
  for (int i = 0; i < 1000; ++i) {
    chosen.push_back(
        choose_read(device_of_kind(kind), {rate(kBuffered, 2, 1000)}, need, random).style);
  }
  return chosen;
}

TEST(ReadChoice, TriesOthersNowAndThenOnLargeReadsOnly) {
  const ReadStyle usual = style(kBuffered, 2);
  const auto large = thousand({kTellingRead, Fit::kFits, Purpose::kLoad}, DeviceKind::kSolid);
  const auto others = 1000 - std::ranges::count(large, usual);
  EXPECT_GT(others, 40);
  EXPECT_LT(others, 150);
  for (const ReadStyle& tried : large) {
    EXPECT_EQ(tried.way, kBuffered) << "an experiment leaves the pages behind";
    EXPECT_EQ(tried.direction, ReadDirection::kForward) << "a load wants its order";
  }
  const auto small =
      thousand({kTellingRead - Bytes{1}, Fit::kFits, Purpose::kLoad}, DeviceKind::kSolid);
  EXPECT_EQ(std::ranges::count(small, usual), 1000);
  const auto warm_ups = thousand({kTellingRead, Fit::kFits, Purpose::kWarmUp}, DeviceKind::kSolid);
  EXPECT_GT(std::ranges::count(warm_ups, ReadDirection::kBackward, &ReadStyle::direction), 0);
}

TEST(ReadChoice, FindsTheFastestBySmallExperiments) {
  Random random{3};
  const Device device = device_of_kind(DeviceKind::kSolid);
  DeviceRates rates;
  int best = 0;
  for (int i = 0; i < 400; ++i) {
    const ReadStyle used =
        choose_read(device, rates, {1_GiB, Fit::kFits, Purpose::kLoad}, random).style;
    const bool fast = used.readers == 8 && used.block == 4_MiB;
    EXPECT_TRUE(note_read(rates, used, 1_GiB, fast ? seconds{1} : seconds{2}));
    if (i >= 300 && fast) ++best;
  }
  EXPECT_GT(best, 80);
}

TEST(Rates, SmallReadsTellNothing) {
  DeviceRates rates;
  EXPECT_FALSE(note_read(rates, {}, kTellingRead - Bytes{1}, seconds{1}));
  EXPECT_FALSE(note_read(rates, {}, 1_GiB, Duration::zero()));
  EXPECT_TRUE(rates.empty());
  EXPECT_EQ(best_rate(rates), 0);
}

TEST(Rates, TheNewestCountsMost) {
  DeviceRates rates;
  ASSERT_TRUE(note_read(rates, {}, Bytes{1'000'000'000}, seconds{1}));
  EXPECT_DOUBLE_EQ(best_rate(rates), 1e9);
  ASSERT_TRUE(note_read(rates, {}, Bytes{2'000'000'000}, seconds{1}));
  EXPECT_DOUBLE_EQ(best_rate(rates), 1.3e9);
  EXPECT_EQ(rates.front().reads, 2);
}

TEST(Serial, HeadsAndNetworks) {
  EXPECT_TRUE(is_serial(device_of_kind(DeviceKind::kRotational), {}));
  EXPECT_TRUE(is_serial(device_of_kind(DeviceKind::kNetwork), {}));
  EXPECT_FALSE(is_serial(device_of_kind(DeviceKind::kSolid), {}));
  EXPECT_FALSE(is_serial(device_of_kind(DeviceKind::kUnknown), {}));
  EXPECT_FALSE(is_serial(device_of_kind(DeviceKind::kMemory), {}));
  EXPECT_TRUE(is_serial(device_of_kind(DeviceKind::kRotational), {rate(kBuffered, 1, 250)}));
  EXPECT_FALSE(is_serial(device_of_kind(DeviceKind::kRotational), {rate(kBuffered, 1, 1500)}))
      << "no heads read so fast";
}

}  // namespace
}  // namespace hearth
