// SPDX-License-Identifier: Apache-2.0
#include "lab/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"
#include "base/testing/faulty_files.h"

namespace hearth::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Trial row(const std::string& arm) {
  Trial trial;
  trial.arm = arm;
  return trial;
}

RunInfo some_info() {
  RunInfo info;
  info.study = "classes";
  info.seed = ~std::uint64_t{0};
  info.model = "smollm2, 92 MiB";
  info.machine = R"({"processors":2})";
  info.options = "none, \"really\"";
  info.arms = {"warm", "cold"};
  info.about = {{"warm", "all is there"}};
  info.versions = {{"hearth", "0.1"}};
  info.left_out = {{"ollama: hollow", "it has no such state"}};
  info.not_observable = {"joules: no RAPL here"};
  return info;
}

class RunDirectoryTest : public ::testing::Test {
 protected:
  TemporaryDirectory temporary;
  std::string path = temporary / "a/b";
  const Files& files = Files::real();

  void append(const std::string& text) {
    std::ofstream{path + "/rows.jsonl", std::ios::app | std::ios::binary} << text;
  }
};

TEST_F(RunDirectoryTest, IsReadBackAsItWasWritten) {
  {
    Result<RunDirectory> run = RunDirectory::create(files, path, some_info());
    ASSERT_TRUE(run) << run.error().message();
    ASSERT_TRUE(run->add(row("warm")));
    ASSERT_TRUE(run->add(row("cold")));
  }
  const Result<RunDirectory> run = RunDirectory::open(files, path);
  ASSERT_TRUE(run) << run.error().message();
  ASSERT_THAT(run->rows(), SizeIs(2));
  EXPECT_EQ(run->rows()[1].arm, "cold");
  const RunInfo& info = run->info();
  EXPECT_EQ(info.seed, some_info().seed);
  EXPECT_EQ(info.machine, some_info().machine);
  EXPECT_EQ(info.options, some_info().options);
  EXPECT_EQ(info.arms, some_info().arms);
  EXPECT_EQ(info.about, some_info().about);
  EXPECT_EQ(info.left_out, some_info().left_out);
  EXPECT_EQ(info.not_observable, some_info().not_observable);
}

TEST_F(RunDirectoryTest, ASecondRunInItIsRefused) {
  ASSERT_TRUE(RunDirectory::create(files, path, some_info()));
  const auto second = RunDirectory::create(files, path, some_info());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kConflict);
}

TEST_F(RunDirectoryTest, WhatIsInADirectoryIsNotMixedWithARun) {
  std::filesystem::create_directories(path + "/servers");
  const auto refused = RunDirectory::create(files, path, some_info());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message(), HasSubstr("not empty"));
  EXPECT_FALSE(std::filesystem::exists(path + "/run.json"));
}

TEST_F(RunDirectoryTest, IsWrittenByOneAtATime) {
  {
    const auto first = RunDirectory::create(files, path, some_info());
    ASSERT_TRUE(first) << first.error().message();
    const auto second = RunDirectory::open(files, path, RunDirectory::Use::kGoOn);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), ErrorCode::kConflict);
    EXPECT_TRUE(RunDirectory::open(files, path)) << "reading is free";
  }
  EXPECT_TRUE(RunDirectory::open(files, path, RunDirectory::Use::kGoOn));
}

TEST_F(RunDirectoryTest, IsTakenBackWhereNothingWasMeasured) {
  RunDirectory::create(files, path, some_info())->discard();
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::create_directories(path);
  RunDirectory::create(files, path, some_info())->discard();
  EXPECT_TRUE(std::filesystem::is_empty(path)) << "it was there before";
}

TEST_F(RunDirectoryTest, WhatAFullDiskKeptBackIsWrittenAtTheEnd) {
  testing::FaultyFiles full{1, temporary.path()};
  Result<RunDirectory> run = RunDirectory::create(full, path, {});
  ASSERT_TRUE(run) << run.error().message();
  full.set_room(Bytes{10});
  EXPECT_FALSE(run->add(row("one")));
  RunInfo info = run->info();
  info.left_out["ollama"] = "it is not there";
  EXPECT_FALSE(run->update(info));
  EXPECT_TRUE(run->info().left_out.contains("ollama")) << "known all the same";
  EXPECT_FALSE(run->not_written().empty());
  EXPECT_EQ(run->rows_not_written(), 1U);
  EXPECT_FALSE(run->flush());
  full.set_room(Bytes{1 << 20});
  ASSERT_TRUE(run->flush());
  EXPECT_TRUE(run->not_written().empty());
  const Result<RunDirectory> again = RunDirectory::open(files, path);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_THAT(again->rows(), SizeIs(1));
  EXPECT_TRUE(again->info().left_out.contains("ollama"));
}

TEST_F(RunDirectoryTest, WhereThereIsNoneItSaysSo) {
  const auto none = RunDirectory::open(files, path);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(none.error().message(), HasSubstr("no run.json"));
}

TEST_F(RunDirectoryTest, ALineThatWasCutOffIsDroppedAndTheRunGoesOn) {
  ASSERT_TRUE(RunDirectory::create(files, path, {})->add(row("one")));
  append(R"({"arm":"two","timi)");
  Result<RunDirectory> run = RunDirectory::open(files, path);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_THAT(run->info().not_observable, ElementsAre(HasSubstr("could not be read")));
  ASSERT_TRUE(run->add(row("three")));
  const Result<RunDirectory> again = RunDirectory::open(files, path);
  ASSERT_TRUE(again) << again.error().message();
  ASSERT_THAT(again->rows(), SizeIs(2));
  EXPECT_EQ(again->rows()[1].arm, "three");
  EXPECT_TRUE(again->info().not_observable.empty());
}

TEST_F(RunDirectoryTest, RubbishBetweenRowsIsCountedAndStays) {
  ASSERT_TRUE(RunDirectory::create(files, path, {})->add(row("one")));
  append("rubbish\n{\"arm\":\"three\"}\n");
  Result<RunDirectory> run = RunDirectory::open(files, path);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_THAT(run->rows(), SizeIs(2));
  EXPECT_THAT(run->info().not_observable, ElementsAre(HasSubstr("stopped: 1")));
  ASSERT_TRUE(run->add(row("four")));
  EXPECT_THAT(RunDirectory::open(files, path)->rows(), SizeIs(3));
}

TEST_F(RunDirectoryTest, AnInfoThatIsNoneIsCorrupt) {
  ASSERT_TRUE(RunDirectory::create(files, path, {}));
  std::ofstream{path + "/run.json"} << "{\"arms\": 3}";
  const auto run = RunDirectory::open(files, path);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code(), ErrorCode::kCorrupt);
}

TEST_F(RunDirectoryTest, UpdatingReplacesWhatIsSaidOfTheRun) {
  Result<RunDirectory> run = RunDirectory::create(files, path, some_info());
  ASSERT_TRUE(run);
  RunInfo info = run->info();
  info.model = "another";
  ASSERT_TRUE(run->update(info));
  EXPECT_EQ(run->info().model, "another");
  EXPECT_EQ(RunDirectory::open(files, path)->info().model, "another");
  ASSERT_TRUE(run->write("report.html", "<p>"));
  EXPECT_EQ(std::filesystem::file_size(path + "/report.html"), 3);
}

TEST_F(RunDirectoryTest, AFullDiskLosesNothing) {
  testing::FaultyFiles full{1, temporary.path()};
  Result<RunDirectory> run = RunDirectory::create(full, path, {});
  ASSERT_TRUE(run) << run.error().message();
  full.set_room(Bytes{10});
  for (const char* arm : {"one", "two"}) {
    const Result<> added = run->add(row(arm));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code(), ErrorCode::kNoSpace);
  }
  EXPECT_THAT(run->rows(), SizeIs(2));
  full.set_room(Bytes{1 << 20});
  ASSERT_TRUE(run->add(row("three")));
  const Result<RunDirectory> again = RunDirectory::open(files, path);
  ASSERT_TRUE(again) << again.error().message();
  ASSERT_THAT(again->rows(), SizeIs(3));
  EXPECT_EQ(again->rows()[0].arm, "one");
}

TEST_F(RunDirectoryTest, APowerCutLeavesEveryRowThatWasSaidToBeKept) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const std::string here = path + std::to_string(seed);
    testing::FaultyFiles files_of_a_bad_day{seed, temporary.path()};
    Result<RunDirectory> run = RunDirectory::create(files_of_a_bad_day, here, {});
    ASSERT_TRUE(run);
    std::size_t kept = 0;
    files_of_a_bad_day.set_faults({.no_space = 200, .io_error = 100});
    for (int i = 0; i < 20; ++i) {
      if (run->add(row(std::string(300, 'x')))) kept = run->rows().size();
    }
    files_of_a_bad_day.power_cut();
    const Result<RunDirectory> again = RunDirectory::open(files, here);
    ASSERT_TRUE(again) << seed << ": " << again.error().message();
    EXPECT_GE(again->rows().size(), kept) << seed;
  }
}

}  // namespace
}  // namespace hearth::lab
