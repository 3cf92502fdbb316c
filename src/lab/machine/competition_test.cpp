// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/competition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/json.h"
#include "base/temporary_directory.h"
#include "lab/machine/description.h"

namespace hearth::lab {
namespace {

using namespace literals;

class Competitors : public ::testing::TestWithParam<Competitor> {
 protected:
  TemporaryDirectory directory_;
  CompetitionSize size_{.backup = 4_MiB, .database = 4_MiB, .served = 4_MiB, .memory = 4_MiB};
};

TEST_P(Competitors, WorkUntilTheyGo) {
  auto competition =
      start_competition(Files::real(), GetParam(), directory_ / "competition", size_);
  ASSERT_TRUE(competition) << competition.error().message();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  while ((*competition)->done() == Bytes{} && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_GT((*competition)->done(), Bytes{});
  competition->reset();
}

TEST_P(Competitors, TakeTheFilesOfAnEarlierTime) {
  const std::string directory = directory_ / "competition";
  ASSERT_TRUE(start_competition(Files::real(), GetParam(), directory, size_));
  const auto count = [&] {
    std::size_t files = 0;
    if (!std::filesystem::exists(directory)) return files;
    for (const auto& entry : std::filesystem::directory_iterator{directory})
      files += entry.exists();
    return files;
  };
  const std::size_t before = count();
  ASSERT_TRUE(start_competition(Files::real(), GetParam(), directory, size_));
  EXPECT_EQ(count(), before);
}

INSTANTIATE_TEST_SUITE_P(All, Competitors,
                         ::testing::Values(Competitor::kBackupScan, Competitor::kDatabase,
                                           Competitor::kFileServing, Competitor::kProcessor,
                                           Competitor::kMemory),
                         [](const auto& test) {
                           std::string name{name_of(test.param)};
                           std::erase(name, ' ');
                           return name;
                         });

TEST(Competition, SaysThatThereIsNoRoom) {
  const TemporaryDirectory directory;
  const auto none =
      start_competition(Files::real(), Competitor::kDatabase, directory.path(), CompetitionSize{});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kNoSpace);
}

TEST(Competition, IsNeverLargerThanTheMachine) {
  const TemporaryDirectory directory;
  const CompetitionSize size = CompetitionSize::usual(Files::real(), directory.path());
  const auto space = Files::real().space(directory.path());
  EXPECT_LE(size.backup, Bytes{space->free.count() / 3});
  EXPECT_GT(size.memory, 1_MiB);
}

TEST(Description, IsJsonThatSaysWhatItCouldNotSee) {
  const TemporaryDirectory directory;
  const auto parsed = parse_json(describe_machine(Files::real(), {directory / "missing"}));
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_GT(parsed->at("processors").at("online").as_int64(), 0);
  EXPECT_GT(parsed->at("memory").at("total_bytes").to_number<double>(), 1e6);
  EXPECT_TRUE(parsed->at("not_observable").at("pages").is_string());
  EXPECT_EQ(parsed->at("devices").as_array().size(), 1U);
}

}  // namespace
}  // namespace hearth::lab
