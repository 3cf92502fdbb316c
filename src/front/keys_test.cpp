// SPDX-License-Identifier: Apache-2.0
#include "front/keys.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

KeyRing::Kept kept(const std::string& id, Role role, std::string_view secret) {
  return {KeyInfo{id, "key " + id, role, 1}, digest_of(secret)};
}

std::vector<KeyRing::Kept> three_keys() {
  return {kept("a", Role::kAdmin, "one"), kept("b", Role::kUse, "two"),
          kept("c", Role::kReadOnly, "three")};
}

TEST(Roles, HaveNames) {
  for (const Role role : {Role::kUse, Role::kReadOnly, Role::kAdmin}) {
    EXPECT_EQ(role_named(name_of(role)), role);
  }
  EXPECT_EQ(role_named("Admin"), std::nullopt);
  EXPECT_EQ(role_named(""), std::nullopt);
}

struct PresentedCase {
  const char* label;
  std::string presented;
  const char* id;  // empty: nobody's
};
class Presented : public testing::TestWithParam<PresentedCase> {};
TEST_P(Presented, IsSomebodysOrNobodys) {
  const auto found = KeyRing{three_keys()}.check(GetParam().presented);
  EXPECT_EQ(found ? found->id : "", GetParam().id);
}
INSTANTIATE_TEST_SUITE_P(
    Keys, Presented,
    testing::Values(PresentedCase{"First", "one", "a"}, PresentedCase{"Last", "three", "c"},
                    PresentedCase{"Unknown", "four", ""}, PresentedCase{"Empty", "", ""},
                    PresentedCase{"Prefix", "on", ""}, PresentedCase{"Longer", "one ", ""},
                    PresentedCase{"OtherCase", "ONE", ""},
                    PresentedCase{"Digest", digest_of("one"), ""},
                    PresentedCase{"Nul", std::string{"one\0", 4}, ""}),
    [](const auto& test) { return test.param.label; });

int compared = 0;
bool counting(std::string_view a, std::string_view b) {
  ++compared;
  EXPECT_EQ(a.size(), b.size());
  return a == b;
}

TEST(KeyRing, ComparesWithEveryKeyWhicheverFits) {
  const KeyRing ring{three_keys(), counting};
  for (const char* presented : {"one", "two", "three", "four", ""}) {
    compared = 0;
    (void)ring.check(presented);
    EXPECT_EQ(compared, 3) << presented;
  }
}

TEST(KeyRing, WithoutKeysKnowsNobody) {
  EXPECT_TRUE(KeyRing{}.empty());
  EXPECT_FALSE(KeyRing{}.check(""));
  EXPECT_FALSE(KeyRing{}.check("one"));
}

TEST(KeyRing, ChangesAsACopy) {
  const KeyRing ring{three_keys()};
  const KeyRing more = ring.with({KeyInfo{"k4", "four", Role::kUse, 0}, digest_of("four")});
  EXPECT_TRUE(more.check("four"));
  EXPECT_TRUE(more.check("one"));
  const KeyRing fewer = more.without("k4");
  EXPECT_FALSE(fewer.check("four"));
  EXPECT_TRUE(fewer.check("one"));
  EXPECT_EQ(fewer.keys().size(), 3U);
  EXPECT_EQ(more.without("four").keys().size(), 4U);  // that is its name
  EXPECT_FALSE(ring.check("four"));
}

}  // namespace
}  // namespace hearth::front
