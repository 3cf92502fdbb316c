// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/disk_admission.h"

#include <gtest/gtest.h>

#include <ostream>

namespace hearth {
namespace {

using std::chrono::seconds;
using Kind = DiskCandidate::Kind;
using Budget = DiskCandidate::Budget;

constexpr TimePoint kNow{std::chrono::hours{10}};
constexpr int kQuietS = 10;

struct AdmissionCase {
  const char* name;
  DiskCandidate block;
  DiskAdmission expected;
};
void PrintTo(const AdmissionCase& c, std::ostream* out) { *out << c.name; }
class Admission : public ::testing::TestWithParam<AdmissionCase> {};

TEST_P(Admission, Decides) {
  EXPECT_EQ(disk_admission(GetParam().block, kNow, kQuietS), GetParam().expected);
}

constexpr TimePoint ago(int s) { return kNow - seconds{s}; }

INSTANTIATE_TEST_SUITE_P(
    Disk, Admission,
    ::testing::Values(
        AdmissionCase{
            "FreshAndUsedOnce", {5, 0, Kind::kConversation, ago(1)}, DiskAdmission::kNotYet},
        AdmissionCase{"UsedAgain", {5, 1, Kind::kConversation, ago(1)}, DiskAdmission::kWrite},
        AdmissionCase{"OfAModule", {5, 0, Kind::kModule, ago(1)}, DiskAdmission::kWrite},
        AdmissionCase{"AlmostQuiet",
                      {5, 0, Kind::kConversation, ago(kQuietS) + Duration{1}},
                      DiskAdmission::kNotYet},
        AdmissionCase{"Quiet", {5, 0, Kind::kConversation, ago(kQuietS)}, DiskAdmission::kWrite},
        AdmissionCase{"WhileARequestRuns",
                      {5, 0, Kind::kConversation, TimePoint::max()},
                      DiskAdmission::kNotYet},
        AdmissionCase{
            "WithoutAnyReply", {5, 0, Kind::kConversation, TimePoint{}}, DiskAdmission::kWrite},
        AdmissionCase{"TwoBlocks", {2, 1, Kind::kConversation, ago(1)}, DiskAdmission::kWrite},
        AdmissionCase{"OneBlock", {1, 1, Kind::kModule, ago(99)}, DiskAdmission::kShort},
        AdmissionCase{
            "NoBudget", {5, 1, Kind::kModule, ago(99), Budget::kSpent}, DiskAdmission::kSpent},
        AdmissionCase{"NotYetAndNoBudget",
                      {5, 0, Kind::kConversation, ago(1), Budget::kSpent},
                      DiskAdmission::kNotYet}),
    [](const auto& test) { return test.param.name; });

TEST(DiskAdmission, WritesAtOnceWhereNoQuietIsAskedFor) {
  const DiskCandidate block{5, 0, Kind::kConversation, kNow};
  EXPECT_EQ(disk_admission(block, kNow, 0), DiskAdmission::kWrite);
}

}  // namespace
}  // namespace hearth
