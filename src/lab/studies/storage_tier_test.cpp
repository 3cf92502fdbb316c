// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/storage_tier.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"

namespace hearth::lab {
namespace {

namespace fs = std::filesystem;

// As the system shows a disk with one partition.
TEST(LimitedDevice, IsAPartitionsWholeDisk) {
  const TemporaryDirectory system;
  fs::create_directories(system / "disk/part");
  std::ofstream{system / "disk/dev"} << "8:0\n";
  std::ofstream{system / "disk/part/dev"} << "8:1\n";
  std::ofstream{system / "disk/part/partition"} << "1\n";
  fs::create_directories(system / "block");
  fs::create_directory_symlink("../disk", system / "block/8:0");
  fs::create_directory_symlink("../disk/part", system / "block/8:1");
  EXPECT_EQ(limited_device(system / "block", "8:1"), "8:0");
  EXPECT_EQ(limited_device(system / "block", "8:0"), "8:0");
  EXPECT_EQ(limited_device(system / "block", "0:40"), "0:40") << "no such device: as it is";
}

TEST(StorageTier, IsANameOrASpeed) {
  EXPECT_EQ(storage_tier("hdd")->megabytes_per_s, 120);
  EXPECT_EQ(storage_tier("35.5")->megabytes_per_s, 35.5);
  for (const char* bad : {"", "0", "fast", "10 MB/s"}) EXPECT_FALSE(storage_tier(bad)) << bad;
}

}  // namespace
}  // namespace hearth::lab
