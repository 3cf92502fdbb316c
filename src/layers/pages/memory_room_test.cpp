// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/memory_room.h"

#include <gtest/gtest.h>

#include "layers/testing/system_files.h"

namespace hearth {
namespace {

using namespace literals;
using testing::SystemFiles;

constexpr const char* kMeminfo = "MemTotal:  8000 kB\nMemFree: 1 kB\nMemAvailable:    4096 kB\n";

TEST(MemoryRoom, OfTheMachine) {
  EXPECT_EQ(available_in(kMeminfo), 4_MiB);
  EXPECT_EQ(available_in("MemTotal: 8000 kB\n"), std::nullopt);
  EXPECT_EQ(available_in("MemAvailable: lots\n"), std::nullopt);
  EXPECT_EQ(available_in(""), std::nullopt);
}

struct RoomCase {
  const char* name;
  const char* limit;
  const char* usage;
  const char* stat;
  std::optional<Bytes> room;
};
void PrintTo(const RoomCase& c, std::ostream* out) { *out << c.name; }
class CgroupRoom : public ::testing::TestWithParam<RoomCase> {};

TEST_P(CgroupRoom, IsTheLimitWithoutWhatStays) {
  EXPECT_EQ(room_in_cgroup(GetParam().limit, GetParam().usage, GetParam().stat), GetParam().room);
}
INSTANTIATE_TEST_SUITE_P(
    Pages, CgroupRoom,
    ::testing::Values(
        RoomCase{"NoLimit", "max", "100", "", std::nullopt},
        RoomCase{"NoLimitOfVersion1", "9223372036854771712", "100", "", std::nullopt},
        RoomCase{"CacheCanGo", "1000", "700", "anon 100\nactive_file 200\ninactive_file 300\n",
                 Bytes{800}},
        RoomCase{"TotalsGoFirst", "1000", "700",
                 "active_file 1\ninactive_file 1\ntotal_inactive_file 300\ntotal_active_file 100\n",
                 Bytes{700}},
        RoomCase{"Overdrawn", "1000", "1500", "", Bytes{0}},
        RoomCase{"Unreadable", "1000", "", "", std::nullopt}),
    [](const auto& test) { return test.param.name; });

TEST(CgroupPath, OfBothVersions) {
  constexpr std::string_view kBoth = "9:cpu,memory:/user/a\n3:cpuset:/\n0::/slice/b\n";
  EXPECT_EQ(cgroup_path(kBoth, "memory"), "/user/a");
  EXPECT_EQ(cgroup_path(kBoth, ""), "/slice/b");
  EXPECT_EQ(cgroup_path("3:cpuset:/\n", "memory"), std::nullopt);
  EXPECT_EQ(cgroup_path("garbage\n1:2\n", ""), std::nullopt);
}

TEST(MemoryRoom, TheTightestLimitAboveHolds) {
  SystemFiles files;
  files.put("/proc/meminfo", kMeminfo);
  EXPECT_EQ(memory_room(files), 4_MiB);
  files.put("/proc/self/cgroup", "0::/outer/inner\n");
  EXPECT_EQ(memory_room(files), 4_MiB);
  files.put("/sys/fs/cgroup/outer/memory.max", "3145728\n");
  files.put("/sys/fs/cgroup/outer/memory.current", "1048576\n");
  files.put("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  EXPECT_EQ(memory_room(files), 2_MiB);
}

TEST(MemoryRoom, OfThisSystemIsKnown) { EXPECT_GT(memory_room(Files::real()).value(), 1_MiB); }

}  // namespace
}  // namespace hearth
