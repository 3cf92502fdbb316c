// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace hearth {
namespace {

TEST(Random, SameSeedGivesTheSameRun) {
  Random a{42};
  Random b{42};
  Random c{43};
  const std::string id = a.id(20);
  EXPECT_EQ(id, b.id(20));
  EXPECT_NE(id, c.id(20));
  EXPECT_EQ(a.next(), b.next());
}

TEST(Random, IdsAreShortPlainAndDifferent) {
  Random random = Random::from_entropy();
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(random.id(12));
  EXPECT_EQ(ids.size(), 1000U);
  for (const std::string& id : ids) {
    EXPECT_EQ(id.size(), 12U);
    EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"), std::string::npos);
  }
}

}  // namespace
}  // namespace hearth
