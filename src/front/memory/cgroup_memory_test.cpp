// SPDX-License-Identifier: Apache-2.0
#include "front/memory/cgroup_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "front/memory/testing/fake_system.h"

namespace hearth::front {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using testing::FakeSystem;
using ::testing::IsEmpty;
using Place = CgroupPlaces::Place;

constexpr std::string_view kMounts =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr std::string_view kMountsOfVersion1 =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
constexpr std::string_view kMountsInContainer =
    "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    "36 31 0:33 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";

struct PlaceCase {
  const char* name;
  std::string_view own;
  std::string_view mounts;
  std::vector<Place> places;
};
void PrintTo(const PlaceCase& c, std::ostream* out) { *out << c.name; }
class Places : public ::testing::TestWithParam<PlaceCase> {};

TEST_P(Places, AreThoseAroundThisProcess) {
  EXPECT_EQ(cgroup_places(GetParam().own, GetParam().mounts), GetParam().places);
}

INSTANTIATE_TEST_SUITE_P(
    Cgroup, Places,
    ::testing::Values(
        PlaceCase{"Nested",
                  "0::/system.slice/hearth.service\n",
                  kMounts,
                  {{"/sys/fs/cgroup/system.slice/hearth.service", 2},
                   {"/sys/fs/cgroup/system.slice", 2},
                   {"/sys/fs/cgroup", 2}}},
        PlaceCase{"OfANamespace", "0::/\n", kMounts, {{"/sys/fs/cgroup", 2}}},
        PlaceCase{"OutsideTheNamespace", "0::/../other\n", kMounts, {{"/sys/fs/cgroup", 2}}},
        PlaceCase{"FurtherOutside", "0::/../../x/y\n", kMounts, {{"/sys/fs/cgroup", 2}}},
        PlaceCase{"Version1",
                  "9:cpu:/\n4:memory:/a/b\n0::/\n",
                  kMountsOfVersion1,
                  {{"/sys/fs/cgroup/memory/a/b", 1},
                   {"/sys/fs/cgroup/memory/a", 1},
                   {"/sys/fs/cgroup/memory", 1}}},
        PlaceCase{"SeveralControllers",
                  "4:cpu,memory:/a\n",
                  "35 31 0:32 / /cg rw - cgroup cgroup rw,cpu,memory\n",
                  {{"/cg/a", 1}, {"/cg", 1}}},
        PlaceCase{"BelowAContainersRoot",
                  "4:memory:/docker/abc/app\n0::/docker/abc\n",
                  kMountsInContainer,
                  {{"/sys/fs/cgroup", 2},
                   {"/sys/fs/cgroup/memory/app", 1},
                   {"/sys/fs/cgroup/memory", 1}}},
        PlaceCase{"AContainersRootIsNoPrefixOfAName",
                  "4:memory:/docker/abcd\n",
                  kMountsInContainer,
                  {{"/sys/fs/cgroup/memory", 1}}},
        PlaceCase{"TheWiderOfTwoMounts",
                  "0::/a/b\n",
                  "1 2 0:1 /a /narrow rw - cgroup2 x rw\n"
                  "1 2 0:1 / /wide rw - cgroup2 x rw\n"
                  "1 2 0:1 /other /elsewhere rw - cgroup2 x rw\n",
                  {{"/wide/a/b", 2}, {"/wide/a", 2}, {"/wide", 2}}},
        PlaceCase{"NoMount", "0::/a\n", "22 27 0:21 / /proc rw - proc proc rw\n", {}},
        PlaceCase{"NoMemoryController", "4:cpu:/a\n", kMountsOfVersion1, {}},
        PlaceCase{"Nothing", "", "", {}},
        PlaceCase{
            "Garbage", "::\n:\n4:memory\n0::relative\n\0x", "- - -\n1 2 - cgroup2\n - \n", {}}),
    [](const auto& test) { return test.param.name; });

struct GroupCase {
  const char* name;
  int version;
  std::vector<std::pair<std::string, std::string>> files;
  std::optional<CgroupMemory> group;
};
void PrintTo(const GroupCase& c, std::ostream* out) { *out << c.name; }
class Group : public ::testing::TestWithParam<GroupCase> {};

TEST_P(Group, IsReadAsFarAsItTells) {
  const FakeSystem system;
  for (const auto& [name, text] : GetParam().files) system.put("/cg/" + name, text);
  const auto figures = [](const CgroupMemory& group) {
    return std::tuple{group.path, group.version,       group.limit,
                      group.used, group.unreclaimable, group.some_avg10};
  };
  auto wanted = GetParam().group;
  if (wanted) wanted->version = GetParam().version;
  const auto group = cgroup_in(system.root(), "/cg", GetParam().version);
  ASSERT_EQ(group.has_value(), wanted.has_value());
  if (group) {
    EXPECT_EQ(figures(*group), figures(*wanted));
  }
}

std::optional<CgroupMemory> group(Bytes limit, Bytes used, Bytes unreclaimable,
                                  std::optional<double> pressure = {}) {
  return CgroupMemory{"/cg", 2, limit, used, unreclaimable, pressure, {}};
}

INSTANTIATE_TEST_SUITE_P(
    Cgroup, Group,
    ::testing::Values(
        GroupCase{"Version2",
                  2,
                  {{"memory.max", "1000\n"},
                   {"memory.current", "700\n"},
                   {"memory.stat",
                    "anon 100\nfile 600\nshmem 100\ninactive_file 300\n"
                    "active_file 200\n"},
                   {"memory.pressure", "some avg10=12.50 avg60=0.00\nfull avg10=1.00\n"}},
                  group(Bytes{1000}, Bytes{700}, Bytes{200}, 12.5)},
        GroupCase{"HighIsLess",
                  2,
                  {{"memory.max", "1000"}, {"memory.high", "900"}, {"memory.current", "1"}},
                  group(Bytes{900}, Bytes{1}, Bytes{1})},
        GroupCase{"HighAlone",
                  2,
                  {{"memory.max", "max\n"}, {"memory.high", "900"}, {"memory.current", "1"}},
                  group(Bytes{900}, Bytes{1}, Bytes{1})},
        GroupCase{"Nothing", 2, {}, {}},
        GroupCase{"NoLimit", 2, {{"memory.max", "max\n"}, {"memory.current", "1"}}, {}},
        GroupCase{"NoUsage", 2, {{"memory.max", "1000"}}, {}},
        GroupCase{"OddLimit", 2, {{"memory.max", "-1\n"}, {"memory.current", "1"}}, {}},
        GroupCase{"LimitBeyondNumbers",
                  2,
                  {{"memory.max", "99999999999999999999999\n"}, {"memory.current", "1"}},
                  {}},
        GroupCase{"NothingFits",
                  2,
                  {{"memory.max", "0\n"}, {"memory.current", "5"}},
                  group(Bytes{0}, Bytes{5}, Bytes{5})},
        GroupCase{"OddStat",
                  2,
                  {{"memory.max", "1000"},
                   {"memory.current", "700"},
                   {"memory.stat", "inactive_file\nactive_file lots\ninactive_file_x 5\n\n"},
                   {"memory.pressure", "some avg10=nan\n"}},
                  group(Bytes{1000}, Bytes{700}, Bytes{700})},
        GroupCase{"CacheWithoutLists",
                  2,
                  {{"memory.max", "1000"},
                   {"memory.current", "700"},
                   {"memory.stat", "file 500\nshmem 200\n"}},
                  group(Bytes{1000}, Bytes{700}, Bytes{400})},
        GroupCase{"MoreCacheThanUsed",
                  2,
                  {{"memory.max", "1000"},
                   {"memory.current", "100"},
                   {"memory.stat", "inactive_file 500\n"}},
                  group(Bytes{1000}, Bytes{100}, Bytes{0})},
        GroupCase{"Version1",
                  1,
                  {{"memory.limit_in_bytes", "1000\n"},
                   {"memory.usage_in_bytes", "700\n"},
                   {"memory.stat",
                    "cache 9\ninactive_file 1\nactive_file 1\n"
                    "total_cache 600\ntotal_inactive_file 300\n"
                    "total_active_file 200\n"}},
                  group(Bytes{1000}, Bytes{700}, Bytes{200})},
        GroupCase{"NoLimitOfVersion1",
                  1,
                  {{"memory.limit_in_bytes", "9223372036854771712\n"},
                   {"memory.usage_in_bytes", "700\n"}},
                  {}}),
    [](const auto& test) { return test.param.name; });

TEST(Cgroups, TheOneThatLeavesLeastCounts) {
  const FakeSystem system;
  // The limit above is larger, but the neighbours there have used it.
  system.put("/cg/memory.max", "5000");
  system.put("/cg/memory.current", "4900");
  system.put("/cg/a/memory.max", "1000");
  system.put("/cg/a/memory.current", "100");
  const std::vector<Place> places{{"/cg/a/gone", 2}, {"/cg/a", 2}, {"/cg", 2}};
  const auto tightest = tightest_cgroup(system.root(), places);
  ASSERT_TRUE(tightest);
  EXPECT_EQ(tightest->path, "/cg");
  EXPECT_EQ(tightest->room(), Bytes{100});
  EXPECT_FALSE(tightest_cgroup(system.root(), {{"/cg/a/gone", 2}}));
  EXPECT_FALSE(tightest_cgroup(system.root(), {}));
}

TEST(Cgroups, AreFoundAgainWhenTheProcessIsMoved) {
  const FakeSystem system;
  system.put("/proc/self/mountinfo", kMounts);
  CgroupPlaces places;
  EXPECT_THAT(places.find(system.root(), "0::/a\n"),
              ElementsAre(Place{"/sys/fs/cgroup/a", 2}, Place{"/sys/fs/cgroup", 2}));
  EXPECT_THAT(places.find(system.root(), "0::/\n"), ElementsAre(Place{"/sys/fs/cgroup", 2}));
  EXPECT_THAT(places.find(system.root(), ""), IsEmpty());
}

}  // namespace
}  // namespace hearth::front
