// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "front/memory/memory_budget.h"

// Loads that come, grow, fail and go at random, on a machine with random neighbours, held against
// sums made another way.
namespace hearth::front {
namespace {

struct Load {
  Reservation reservation;
  std::uint64_t asked = 0;
  std::uint64_t has = 0;  // as it was last reported
};

class Household {
 public:
  explicit Household(std::uint64_t seed) : random_{seed} {
    total_ = 1000 + below(9000);
    configured_ = below(3) == 0 ? 0 : below(2 * total_);
    kept_free_ = below(total_ / 4);
    budget_.emplace(MemoryBudget::Settings{"memory", Bytes{configured_}, Bytes{kept_free_}});
    report();
  }

  void step() {
    switch (below(9)) {
      case 0:
      case 1:
        return begin();
      case 2:
        return end();
      case 3:
        return grow();
      case 4:
        neighbours_ = below(total_);
        return report();
      case 5:
        return configure();
      case 6:
        return move_one();
      default:
        return progress();
    }
  }

  void check() const {
    std::uint64_t promised = 0;
    std::uint64_t held = 0;
    for (const Load& load : loads_) {
      promised += load.asked - std::min(load.asked, load.has);
      held += load.has;
    }
    EXPECT_EQ(budget_->promised().count(), promised);
    EXPECT_EQ(budget_->held().count(), held);
    check_limit(held, promised);
  }

  void end_all() {
    loads_.clear();
    report();
    EXPECT_EQ(budget_->promised(), Bytes{});
    EXPECT_EQ(budget_->held(), Bytes{});
  }

 private:
  void check_limit(std::uint64_t held, std::uint64_t promised) const {
    const std::uint64_t limit = budget_->limit().count();
    EXPECT_LE(limit, total_ - kept_free_);
    EXPECT_TRUE(configured_ == 0 || limit <= configured_);
    EXPECT_EQ(budget_->free().count(), limit - std::min(limit, held + promised));
    EXPECT_EQ(budget_->over().count(), held - std::min(limit, held));
    EXPECT_LE(budget_->shortfall().count(), held);
    EXPECT_GE(budget_->shortfall(), budget_->over());
  }

  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : random_.next() % bound; }
  Load* any() { return loads_.empty() ? nullptr : &loads_[below(loads_.size())]; }

  void begin() {
    const std::uint64_t wanted = below(total_);
    const Bytes free = budget_->free();
    auto reservation = budget_->reserve("m" + std::to_string(below(5)), Bytes{wanted});
    EXPECT_EQ(reservation.has_value(), Bytes{wanted} <= free);
    if (reservation) loads_.push_back({std::move(*reservation), wanted, 0});
  }

  // Whether it went well or its worker died: its memory is gone either way.
  void end() {
    if (loads_.empty()) return;
    const auto place = static_cast<std::ptrdiff_t>(below(loads_.size()));
    if (below(2) == 0) loads_[static_cast<std::size_t>(place)].reservation.release();
    loads_.erase(loads_.begin() + place);
    report();
  }

  void grow() {
    Load* load = any();
    if (load == nullptr) return;
    const std::uint64_t more = below(total_ / 2);
    const Bytes free = budget_->free();
    const bool well = budget_->grow(load->reservation, Bytes{more}).has_value();
    EXPECT_EQ(well, Bytes{more} <= free);
    if (well) load->asked += more;
  }

  void configure() {
    configured_ = below(3) == 0 ? 0 : below(2 * total_);
    budget_->set_limit(Bytes{configured_});
  }

  void move_one() {
    Load* load = any();
    if (load == nullptr) return;
    Reservation moved{std::move(load->reservation)};
    load->reservation = std::move(moved);
  }

  void progress() {
    Load* load = any();
    if (load == nullptr) return;
    load->has = below(load->asked + load->asked / 4 + 2);
    load->reservation.now_held(Bytes{load->has});
    report();
  }

  void report() {
    std::vector<Held> held;
    std::uint64_t used = neighbours_;
    for (const Load& load : loads_) {
      const std::uint64_t of_file = load.has / 3;
      held.push_back({HeldFor::kWeights, "m", "", Bytes{load.has - of_file}, false});
      held.push_back({HeldFor::kWeights, "m", "", Bytes{of_file}, true});
      used += load.has - of_file;
    }
    budget_->set_held(std::move(held));
    budget_->set_reading(MemoryRoom{Bytes{total_}, Bytes{total_} - Bytes{used}, std::nullopt});
  }

  Random random_;
  std::uint64_t total_ = 0;
  std::uint64_t configured_ = 0;
  std::uint64_t kept_free_ = 0;
  std::uint64_t neighbours_ = 0;
  std::optional<MemoryBudget> budget_;
  std::vector<Load> loads_;
};

TEST(MemoryBudgetSeeds, TheSumsAlwaysHold) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Household household{seed};
    for (int step = 0; step < 200 && !::testing::Test::HasFailure(); ++step) {
      household.step();
      household.check();
    }
    household.end_all();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace hearth::front
