// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/block_tier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace hearth {
namespace {

using Stay = BlockTier::Stay;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Digest kNone{};

// Of a size that worth can be told apart at.
constexpr Bytes blocks(std::uint64_t count) { return Bytes{100 * count}; }

// "a" is a first block, "ab" the one after it, and so on.
Digest block(std::string_view name) {
  Sha256 hash;
  return hash.add(name).finish();
}
Digest parent_of(std::string_view name) {
  return name.size() < 2 ? kNone : block(name.substr(0, name.size() - 1));
}
std::vector<Digest> chain(std::string_view name) {
  std::vector<Digest> out;
  for (std::size_t n = 1; n <= name.size(); ++n) out.push_back(block(name.substr(0, n)));
  return out;
}
std::vector<Digest> add(BlockTier& tier, std::string_view name, Stay stay = Stay::kAsLongAsWorth) {
  return tier.add(block(name), parent_of(name), blocks(1), stay);
}

// A request for `name`, as a front makes it; how many of its blocks had been there.
std::size_t request(BlockTier& tier, std::string_view name) {
  const std::vector<Digest> wanted = chain(name);
  const std::size_t here = tier.leading(wanted);
  tier.note_use(wanted);
  for (std::size_t n = here + 1; n <= name.size(); ++n) {
    add(tier, name.substr(0, n));
    if (!tier.has(block(name.substr(0, n)))) break;
  }
  return here;
}

struct GoesCase {
  const char* name;
  std::vector<const char*> requests;
  std::uint64_t budget;
  std::vector<const char*> here;
  std::vector<const char*> gone;
};
void PrintTo(const GoesCase& c, std::ostream* out) { *out << c.name; }
class WhatGoes : public ::testing::TestWithParam<GoesCase> {};

TEST_P(WhatGoes, IsWorthLeast) {
  BlockTier tier{blocks(GetParam().budget)};
  for (const char* name : GetParam().requests) request(tier, name);
  for (const char* name : GetParam().here) EXPECT_TRUE(tier.has(block(name))) << name;
  for (const char* name : GetParam().gone) EXPECT_FALSE(tier.has(block(name))) << name;
}

INSTANTIATE_TEST_SUITE_P(
    BlockTier, WhatGoes,
    ::testing::Values(
        GoesCase{"NothingWhileThereIsRoom", {"abc", "x"}, 4, {"abc", "x"}, {}},
        GoesCase{"TheLongestUnused", {"a", "b", "c", "d"}, 3, {"b", "c", "d"}, {"a"}},
        GoesCase{"OfOneChainItsEnd", {"abc", "x"}, 3, {"ab", "x"}, {"abc"}},
        GoesCase{"WhatCameOnceBeforeWhatWasUsedAgain",
                 {"a", "a", "b", "c", "d"},
                 3,
                 {"a", "c", "d"},
                 {"b"}},
        GoesCase{"DocumentsBeforeASharedPrompt",
                 {"sx", "sy", "01234567", "abcdefgh", "ABCDEFGH"},
                 20,
                 {"s", "012", "ABCDEFGH"},
                 {"sx", "sy", "0123"}},
        GoesCase{"WhatBranchesOffBeforeAConversationsNextTurn",
                 {"sab", "sab", "sabc", "sx", "y", "z"},
                 6,
                 {"sabc"},
                 {"sx"}},
        GoesCase{"FormerFameAtLast",
                 {"a", "a", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"},
                 3,
                 {"j"},
                 {"a"}},
        GoesCase{"NotWhatComesBack", {"a", "b", "c", "a", "d", "e"}, 2, {"a"}, {"b", "c", "d"}}),
    [](const auto& test) { return test.param.name; });

TEST(BlockTier, FindsTheBeginningThatIsHere) {
  BlockTier tier{blocks(10)};
  request(tier, "abcd");
  EXPECT_EQ(tier.leading(chain("abcd")), 4U);
  EXPECT_EQ(tier.leading(chain("abxd")), 2U);
  EXPECT_EQ(tier.leading(chain("xbcd")), 0U);
  EXPECT_EQ(tier.leading({}), 0U);
  EXPECT_EQ(tier.blocks(), 4U);
  EXPECT_EQ(tier.used(), blocks(4));
}

TEST(BlockTier, CountsUsesUpToAFew) {
  BlockTier tier{blocks(10)};
  EXPECT_EQ(tier.uses(block("a")), 0);
  add(tier, "a");
  EXPECT_EQ(tier.uses(block("a")), 0);
  for (int uses = 1; uses < 10; ++uses) {
    tier.note_use(chain("a"));
    EXPECT_EQ(tier.uses(block("a")), std::min(uses, BlockTier::kMostUses));
  }
}

TEST(BlockTier, RemembersUsesOfWhatHadToGo) {
  BlockTier tier{blocks(2)};
  for (const char* name : {"a", "b", "c"}) request(tier, name);
  ASSERT_FALSE(tier.has(block("a")));
  request(tier, "a");
  EXPECT_EQ(tier.uses(block("a")), 1);
}

TEST(BlockTier, TakesTheSameBlockOnce) {
  BlockTier tier{blocks(10)};
  add(tier, "a");
  EXPECT_THAT(tier.add(block("a"), kNone, blocks(7), Stay::kAlways), IsEmpty());
  EXPECT_EQ(tier.used(), blocks(1));
  EXPECT_THAT(tier.set_budget(Bytes{}), IsEmpty()) << "it always stays";
}

TEST(BlockTier, RefusesWhatIsLargerThanItsBudget) {
  BlockTier tier{blocks(3)};
  request(tier, "abc");
  EXPECT_THAT(tier.add(block("x"), kNone, blocks(4), Stay::kAlways), ElementsAre(block("x")));
  EXPECT_EQ(tier.blocks(), 3U) << "nothing goes for it";
}

TEST(BlockTier, RefusesWhatIsWorthLessThanAllElse) {
  BlockTier tier{blocks(2)};
  for (const char* name : {"a", "b", "a", "b"}) request(tier, name);
  EXPECT_THAT(add(tier, "x"), ElementsAre(block("x")));
  EXPECT_EQ(tier.blocks(), 2U);
}

TEST(BlockTier, KeepsWhatAlwaysStaysAndWhatIsBeforeIt) {
  BlockTier tier{blocks(3)};
  add(tier, "a");
  add(tier, "ab", Stay::kAlways);
  for (const char* name : {"c", "d", "e"}) request(tier, name);
  EXPECT_EQ(tier.leading(chain("ab")), 2U);
  tier.set_stay(block("ab"), Stay::kAsLongAsWorth);
  for (const char* name : {"f", "g", "h"}) request(tier, name);
  EXPECT_EQ(tier.leading(chain("ab")), 0U);
}

TEST(BlockTier, HoldsItsBudgetAlsoAgainstWhatAlwaysStays) {
  BlockTier tier{blocks(2)};
  add(tier, "a");
  add(tier, "ab", Stay::kAlways);
  EXPECT_THAT(add(tier, "abc", Stay::kAlways), ElementsAre(block("abc")));
  EXPECT_THAT(add(tier, "x"), ElementsAre(block("x")));
  EXPECT_EQ(tier.used(), blocks(2));
}

TEST(BlockTier, TakesNothingInWhileWhatStaysIsTooMuch) {
  BlockTier tier{blocks(3)};
  for (const char* name : {"a", "ab", "abc"}) add(tier, name, Stay::kAlways);
  EXPECT_THAT(tier.set_budget(blocks(2)), IsEmpty());
  EXPECT_THAT(add(tier, "x"), ElementsAre(block("x")));
  EXPECT_THAT(tier.remove(block("abc")), ElementsAre(block("abc")));
  EXPECT_EQ(tier.used(), blocks(2));
}

TEST(BlockTier, ShrinksFromTheEnds) {
  BlockTier tier{blocks(10)};
  request(tier, "abc");
  request(tier, "abd");
  EXPECT_THAT(tier.set_budget(blocks(2)), ElementsAre(block("abc"), block("abd")));
  EXPECT_EQ(tier.set_budget(Bytes{}).size(), 2U);
  EXPECT_EQ(tier.used(), Bytes{});
}

TEST(BlockTier, TakesOutABlockWithAllThatFollow) {
  BlockTier tier{blocks(10)};
  for (const char* name : {"abc", "abd", "ax"}) request(tier, name);
  tier.set_stay(block("abd"), Stay::kAlways);
  const std::vector<Digest> gone = tier.remove(block("ab"));
  EXPECT_THAT(gone, ::testing::UnorderedElementsAre(block("ab"), block("abc"), block("abd")));
  EXPECT_EQ(gone.back(), block("ab"));
  EXPECT_EQ(tier.leading(chain("ax")), 2U);
  EXPECT_THAT(tier.remove(block("ab")), IsEmpty());
  EXPECT_EQ(tier.used(), blocks(2));
}

TEST(BlockTier, LivesWithABudgetWithoutBounds) {
  BlockTier tier{Bytes{~std::uint64_t{0}}};
  for (int i = 0; i < 5; ++i) request(tier, "abc");
  EXPECT_THAT(tier.set_budget(blocks(2)), ElementsAre(block("abc")));
}

// What a tier holds, followed from outside, through random requests of a few related chains.
class Follower {
 public:
  explicit Follower(std::uint64_t seed) : random_{seed} {}

  void step() {
    switch (random_.next() % 12) {
      case 0:
        return budget(Bytes{random_.next() % 60});
      case 1:
        return remove(some_name());
      case 2:
        return stay(some_name());
      default:
        return ask(some_name());
    }
  }
  void check() const {
    Bytes sum, staying;
    for (const auto& [name, kept] : here_) {
      ASSERT_TRUE(tier_.has(block(name))) << name;
      ASSERT_TRUE(name.size() == 1 || here_.contains(name.substr(0, name.size() - 1))) << name;
      sum += kept.size;
    }
    ASSERT_EQ(tier_.blocks(), here_.size());
    ASSERT_EQ(tier_.used(), sum);
    if (!may_exceed_) {
      ASSERT_LE(sum, budget_);
    }
  }

 private:
  struct Kept {
    Bytes size;
    Stay stay = Stay::kAsLongAsWorth;
  };
  enum class May { kOnlyWhatIsNotToStay, kAll };

  std::string some_name() {
    std::string name;
    for (std::uint64_t n = 1 + random_.next() % 8; n > 0; --n) {
      name += static_cast<char>('a' + random_.next() % (name.empty() ? 5 : 2));
    }
    return name;
  }
  const std::string* name_of(const Digest& digest) const {
    for (const auto& entry : here_) {
      if (block(entry.first) == digest) return &entry.first;
    }
    return nullptr;
  }
  bool has_followers(const std::string& name) const {
    const auto next = here_.upper_bound(name);
    return next != here_.end() && next->first.starts_with(name);
  }
  void delete_one_by_one(const std::vector<Digest>& gone, May may) {
    for (const Digest& digest : gone) {
      const std::string* found = name_of(digest);
      ASSERT_NE(found, nullptr) << "it was not here, or went twice";
      const std::string name = *found;
      ASSERT_FALSE(has_followers(name)) << name;
      ASSERT_TRUE(may == May::kAll || name == adding_ || here_.at(name).stay != Stay::kAlways);
      ASSERT_FALSE(tier_.has(digest));
      here_.erase(name);
    }
  }

  void ask(const std::string& name) {
    tier_.note_use(chain(name));
    for (std::size_t n = tier_.leading(chain(name)) + 1; n <= name.size(); ++n) {
      adding_ = name.substr(0, n);
      const Kept kept{Bytes{1 + random_.next() % 5},
                      random_.next() % 30 == 0 ? Stay::kAlways : Stay::kAsLongAsWorth};
      here_[adding_] = kept;
      delete_one_by_one(tier_.add(block(adding_), parent_of(adding_), kept.size, kept.stay),
                        May::kOnlyWhatIsNotToStay);
      if (!here_.contains(adding_)) break;
    }
    adding_.clear();
  }
  void budget(Bytes size) {
    budget_ = size;
    delete_one_by_one(tier_.set_budget(size), May::kOnlyWhatIsNotToStay);
    may_exceed_ = tier_.used() > budget_;
    for (const auto& [name, kept] : here_) {
      ASSERT_TRUE(!may_exceed_ || kept.stay == Stay::kAlways || has_followers(name))
          << name << " could have gone";
    }
  }
  void remove(const std::string& name) {
    delete_one_by_one(tier_.remove(block(name)), May::kAll);
    ASSERT_FALSE(here_.contains(name));
    budget(budget_);
  }
  void stay(const std::string& name) {
    const auto found = here_.find(name);
    if (found == here_.end()) return;
    found->second.stay = found->second.stay == Stay::kAlways ? Stay::kAsLongAsWorth : Stay::kAlways;
    tier_.set_stay(block(name), found->second.stay);
    budget(budget_);
  }

  Random random_;
  Bytes budget_{40};
  bool may_exceed_ = false;
  BlockTier tier_{budget_};
  std::map<std::string, Kept> here_;
  std::string adding_;
};

TEST(BlockTier, HoldsWhatItPromisesWhateverIsAsked) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Follower follower{seed};
    for (int step = 0; step < 300 && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", step " << step);
      follower.step();
      follower.check();
    }
  }
}

}  // namespace
}  // namespace hearth
