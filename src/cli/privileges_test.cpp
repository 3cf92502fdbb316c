// SPDX-License-Identifier: Apache-2.0
#include "cli/privileges.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace hearth::cli {
namespace {

using namespace hearth::literals;

struct RestrictionCase {
  const char* name;
  Privileges privileges;
  std::vector<std::string> cannot;
};

class Restrictions : public testing::TestWithParam<RestrictionCase> {};

TEST_P(Restrictions, FollowFromPrivileges) {
  std::vector<std::string> cannot;
  for (const Restriction& one : restrictions_of(GetParam().privileges)) {
    cannot.push_back(one.what);
    EXPECT_FALSE(one.instead.empty());
    EXPECT_FALSE(one.allowed_by.empty());
  }
  EXPECT_EQ(cannot, GetParam().cannot);
}

INSTANTIATE_TEST_SUITE_P(
    Privileges, Restrictions,
    testing::Values(RestrictionCase{"Root", {std::nullopt, -20}, {}},
                    RestrictionCase{
                        "Shell",
                        {8_MiB, 19},
                        {"lock more than 8.00 MiB of pages", "raise a thread that has given way",
                         "put evaluation further before other programs than nice 0"}},
                    RestrictionCase{"Unit",
                                    {8_GiB, 0},
                                    {"lock more than 8.00 GiB of pages",
                                     "put evaluation further before other programs than nice 0"}},
                    RestrictionCase{"UnitWithMore",
                                    {std::nullopt, -5},
                                    {"put evaluation further before other programs than nice -5"}}),
    [](const auto& test) { return test.param.name; });

constexpr int kAsExpected = 0;
constexpr int kOtherwise = 1;
constexpr int kCannotTry = 2;

// In a process of its own, because limits that were lowered stay lowered.
int limits_are_seen() {
  rlimit locked{1 << 20, 1 << 20};
  rlimit nice{};
  if (::getrlimit(RLIMIT_NICE, &nice) != 0) return kCannotTry;
  nice.rlim_cur = nice.rlim_max = std::min<rlim_t>(nice.rlim_max, 20);
  if (::setrlimit(RLIMIT_MEMLOCK, &locked) != 0 || ::setrlimit(RLIMIT_NICE, &nice) != 0 ||
      (::geteuid() == 0 && ::setuid(65534) != 0)) {
    return kCannotTry;
  }
  const Privileges seen = own_privileges();
  const int best_nice = std::min(19, 20 - static_cast<int>(nice.rlim_cur));
  return seen.lockable == Bytes{1 << 20} && seen.best_nice == best_nice ? kAsExpected : kOtherwise;
}

TEST(OwnPrivileges, AreThoseOfLimitsAndCapabilities) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(limits_are_seen());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kCannotTry) GTEST_SKIP() << "privileges cannot be given up here";
  EXPECT_EQ(WEXITSTATUS(status), kAsExpected);
}

}  // namespace
}  // namespace hearth::cli
