// SPDX-License-Identifier: Apache-2.0
#include "front/rate_notes.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/sim_event_loop.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

class RateNotesTest : public ::testing::Test {
 protected:
  void save(RateNotes& notes) {
    loop_.spawn(notes.save(loop_, pool_));
    loop_.run_ready();
  }
  std::string text() const {
    std::ifstream file{path_};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  hearth::testing::TempDir directory_;
  std::string path_ = directory_.path() + "/rates.json";
  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
};

TEST_F(RateNotesTest, OutliveARestart) {
  RateNotes before{Files::real(), path_};
  before.load();
  before.predictor().note_service("m", std::chrono::milliseconds{700});
  save(before);
  RateNotes after{Files::real(), path_};
  after.load();
  EXPECT_EQ(after.predictor().service("m"), std::chrono::milliseconds{700});
}

TEST_F(RateNotesTest, NothingNewIsNotWritten) {
  RateNotes notes{Files::real(), path_};
  save(notes);
  EXPECT_EQ(text(), "");
}

TEST_F(RateNotesTest, WhatCannotBeReadIsBegunAnew) {
  for (const char* broken : {"", "{", "{\"version\":7}", "\xff\xfe"}) {
    std::ofstream{path_, std::ios::trunc} << broken;
    RateNotes notes{Files::real(), path_};
    notes.load();
    EXPECT_TRUE(notes.predictor().models().empty());
    notes.predictor().note_service("m", std::chrono::milliseconds{700});
    save(notes);
    EXPECT_NE(text().find("\"version\":1"), std::string::npos);
  }
}

}  // namespace
}  // namespace hearth::front
