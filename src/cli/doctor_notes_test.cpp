// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_notes.h"

#include <gtest/gtest.h>

#include <fstream>

#include "layers/testing/temp_dir.h"

namespace hearth::cli {
namespace {

class DoctorNotesTest : public ::testing::Test {
 protected:
  std::string path() const { return dir_.path() + "/state/hearth/doctor.json"; }
  DoctorNotes notes() const { return {Files::real(), path()}; }

  hearth::testing::TempDir dir_;
};

const lab::Applied kPin{"h:1", "weights.asked", "smol", "hearth pin smol", 7};

TEST_F(DoctorNotesTest, WithoutAFileNothingWasApplied) { EXPECT_TRUE(notes().of("h:1")->empty()); }

TEST_F(DoctorNotesTest, AreOfOneServer) {
  lab::Applied other = kPin;
  other.server = "h:2";
  ASSERT_TRUE(notes().add(kPin));
  ASSERT_TRUE(notes().add(other));
  EXPECT_EQ(*notes().of("h:1"), std::vector{kPin});
  EXPECT_EQ(*notes().of("h:2"), std::vector{other});
}

TEST_F(DoctorNotesTest, TheNewestOfAFindingCounts) {
  lab::Applied later = kPin;
  later.at_us = 9;
  ASSERT_TRUE(notes().add(kPin));
  ASSERT_TRUE(notes().add(later));
  EXPECT_EQ(*notes().of("h:1"), std::vector{later});
}

TEST_F(DoctorNotesTest, ABrokenFileIsNamedAndNotOverwritten) {
  ASSERT_TRUE(notes().add(kPin));
  std::ofstream{path()} << "{";
  const auto read = notes().of("h:1");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
  EXPECT_FALSE(notes().add(kPin));
}

TEST(DoctorNotes, LieWhereStateBelongs) {
  const auto with = [](std::string name, std::string value) {
    return DoctorNotes::usual_path(
        [=](const char* asked) { return asked == name ? value : std::string{}; });
  };
  EXPECT_EQ(with("XDG_STATE_HOME", "/x"), "/x/hearth/doctor.json");
  EXPECT_EQ(with("HOME", "/home/a"), "/home/a/.local/state/hearth/doctor.json");
  EXPECT_EQ(with("", ""), "/var/lib/hearth/doctor.json");
}

}  // namespace
}  // namespace hearth::cli
