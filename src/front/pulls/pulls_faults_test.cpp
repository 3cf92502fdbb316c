// SPDX-License-Identifier: Apache-2.0
//
// Pulls in all sorts of bad luck: two hundred random orders of pulls, cancels, removals and
// restarts, while fetchers die, servers fail and flip bits, and the disk refuses.
#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "base/random.h"
#include "base/testing/faulty_files.h"
#include "front/pulls/testing/sim_pulls.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::Told;
using Trouble = testing::SimWeb::Trouble;

class PullsFaults : public testing::SimPulls, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr int kModels = 4;

  void SetUp() override {
    std::filesystem::create_directory(directory_ / "graveyard");
    files_ = std::make_unique<hearth::testing::FaultyFiles>(seed(), directory_ / "graveyard");
    for (int i = 0; i < kModels; ++i) {
      const std::string name = "m" + std::to_string(i);
      // The last one has the first one's content.
      const std::string content = model(i == kModels - 1 ? 0 : i);
      sources_[i] = i % 2 == 0 ? publish_repository(name, content) : publish(name, content);
      contents_.insert(digest(content));
    }
    open();
    web_.trouble = [this] { return trouble(); };
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(GetParam()) + 1; }
  const Files& files() const override { return *files_; }

  bool one_in(std::uint64_t n) { return random_.next() % n == 0; }
  Trouble trouble() {
    if (!bad_luck_ || !one_in(40)) return Trouble::kNone;
    return std::array{Trouble::kDies, Trouble::kFails, Trouble::kFlips}[random_.next() % 3];
  }
  static std::string name_of(int model) { return "model" + std::to_string(model); }

  void act() {
    const int which = static_cast<int>(random_.next() % kModels);
    switch (random_.next() % 12) {
      case 0:
      case 1:
      case 2:
        return begin(which);
      case 3:
        return leave();
      case 4:
        return remove(which);
      case 5:
        return one_in(3) ? restart() : drop(which);
      default:
        return fetchers_->steps(static_cast<int>(random_.next() % 12));
    }
  }
  void begin(int which) {
    Told& told = told_.emplace_back();
    ask(told, sources_.at(static_cast<std::size_t>(which)), name_of(which));
    asked_.push_back(which);
  }
  void leave() {
    if (told_.empty()) return;
    Told& told = told_[random_.next() % told_.size()];
    if (!told.over()) cancel(told);
  }
  // Like the front: the name goes, then what nobody uses.
  void remove(int which) {
    const auto known = listed(name_of(which));
    if (!known) return;
    const Result<> removed = catalogue_->remove_name(*ModelName::parse(name_of(which)));
    if (!removed) return;
    ++removals_[static_cast<std::size_t>(which)];
    (void)drop_unused(*catalogue_, *store_, {known->artifact.shards[0].path});
  }
  static Task<void> stop(Pulls* pulls, std::string source) {
    (void)co_await pulls->stop_pull(std::move(source), Service::Parts::kDrop);
  }
  void drop(int which) {
    loop_.spawn(stop(pulls_.get(), sources_.at(static_cast<std::size_t>(which))));
    fetchers_->settle();
  }
  void restart() {
    close();
    EXPECT_TRUE(std::ranges::all_of(told_, &Told::over));
    told_.clear();
    asked_.clear();
    open();
  }

  // Whatever is in the store has the name of its content, and whatever is listed is in the store.
  void check() {
    for (const std::string& name : names_in("models/blobs")) {
      if (name.find(".parts") != std::string::npos) continue;
      const std::string content = content_of(directory_ / ("models/blobs/" + name));
      EXPECT_EQ(name, blob_name(digest(content)));
    }
    const auto models = catalogue_->list();
    ASSERT_TRUE(models);
    for (const NamedModel& one : *models) {
      const Artifact::Shard& file = one.artifact.shards.at(0);
      const std::string content = digest(content_of(file.path));
      EXPECT_TRUE(contents_.contains(content)) << one.name;
      // Empty: a file that an earlier try left in the store, and that nobody has read since.
      EXPECT_TRUE(file.sha256.empty() || file.sha256 == content) << one.name;
    }
  }
  // With good luck from here on, everything can be had.
  void check_all_can_be_had() {
    for (int i = 0; i < kModels; ++i) {
      Told told;
      pull(told, sources_.at(static_cast<std::size_t>(i)), name_of(i));
      ASSERT_TRUE(told.done) << i << ": " << told.error->message();
      EXPECT_EQ(content_of(listed(name_of(i))->artifact.shards[0].path),
                model(i == kModels - 1 ? 0 : i));
    }
  }

  std::unique_ptr<hearth::testing::FaultyFiles> files_;
  Random random_{seed()};
  bool bad_luck_ = true;
  std::array<std::string, kModels> sources_;
  std::set<std::string> contents_;
  std::deque<Told> told_;
  std::vector<int> asked_;
  std::array<int, kModels> removals_{};
};

TEST_P(PullsFaults, NothingWrongIsListedAndNothingGoodIsLost) {
  const std::size_t faults = seed() % 3;
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    hearth::testing::FaultyFiles::Faults some;
    if (faults == 1) some.io_error = 4;
    if (faults == 2) some.no_space = 4;
    files_->set_faults(some);
    act();
    files_->set_faults({});
    check();
  }
  bad_luck_ = false;
  // What was said to be there is, unless it was removed.
  for (std::size_t i = 0; i < told_.size(); ++i) {
    const int which = asked_[i];
    if (!told_[i].done || removals_.at(static_cast<std::size_t>(which)) > 0) continue;
    EXPECT_TRUE(listed(name_of(which)));
  }
  fetchers_->steps(500);
  EXPECT_TRUE(std::ranges::all_of(told_, &Told::over));
  check();
  check_all_can_be_had();
  check();
  EXPECT_EQ(fetchers_->living(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PullsFaults, ::testing::Range(0, 200));

}  // namespace
}  // namespace hearth::front
