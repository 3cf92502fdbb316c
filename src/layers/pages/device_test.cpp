// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layers/pages/mounts.h"
#include "layers/testing/system_files.h"

namespace hearth {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using testing::SystemFiles;

constexpr std::string_view kMounts =
    "22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n"
    "31 22 0:40 / /mnt/nas rw shared:9 - nfs4 nas:/models rw,vers=4.2\n"
    "32 22 0:41 / /mnt/smb rw - cifs //box/share rw\n"
    "33 22 0:42 / /mnt/ssh rw - fuse.sshfs me@host:/x rw\n"
    "34 22 0:43 / /mnt/ram rw - tmpfs tmpfs rw\n"
    "35 22 0:44 / /over rw - overlay overlay rw,lowerdir=/a\n"
    "36 22 253:0 / /home rw - xfs /dev/mapper/vg-home rw\n"
    "37 22 9:0 / /raid rw - ext4 /dev/md0 rw\n"
    "38 22 0:45 /sub /pool rw - btrfs /dev/nvme0n1p1 rw\n"
    "39 22 259:1 / /mnt/with\\040blank rw - ext4 /dev/nvme0n1p1 rw\n"
    "40 22 254:0 / /vm rw - ext4 /dev/vda rw\n"
    "nonsense\n"
    "41 22 259:1 / /mnt/nas rw - ext4 /dev/nvme0n1p1 rw\n"
    "42 22 0:46 / /mnt/nas rw - nfs nas:/other rw\n";

struct MountCase {
  const char* name;
  const char* path;
  const char* file_system;
  const char* source;
};
void PrintTo(const MountCase& c, std::ostream* out) { *out << c.name; }
class Mounts : public ::testing::TestWithParam<MountCase> {};

TEST_P(Mounts, AreFoundByPath) {
  const auto mount = mount_of(kMounts, GetParam().path);
  ASSERT_TRUE(mount);
  EXPECT_EQ(mount->file_system, GetParam().file_system);
  EXPECT_EQ(mount->source, GetParam().source);
}
INSTANTIATE_TEST_SUITE_P(
    Pages, Mounts,
    ::testing::Values(MountCase{"Root", "/models/a.gguf", "ext4", "/dev/sda2"},
                      MountCase{"LongestWins", "/mnt/smb/a", "cifs", "//box/share"},
                      MountCase{"ThePointItself", "/home", "xfs", "/dev/mapper/vg-home"},
                      MountCase{"NotByHalfAName", "/homeless/a", "ext4", "/dev/sda2"},
                      MountCase{"Escapes", "/mnt/with blank/a", "ext4", "/dev/nvme0n1p1"},
                      MountCase{"TheLastOfSeveral", "/mnt/nas/a", "nfs", "nas:/other"}),
    [](const auto& test) { return test.param.name; });

TEST(Mounts, OfNothingThereIsNone) {
  EXPECT_FALSE(mount_of("", "/a"));
  EXPECT_FALSE(mount_of("1 2 8:1 / - ext4\n - \n\n", "/a"));
}

TEST(Mounts, ServersAreNamed) {
  EXPECT_EQ(server_of("nas:/models"), "nas");
  EXPECT_EQ(server_of("//box/share"), "box");
  EXPECT_EQ(server_of("[fe80::1]:/x"), "[fe80::1]");
  EXPECT_EQ(server_of("pool/models"), "pool/models");
  EXPECT_EQ(server_of(""), "");
  EXPECT_EQ(server_of("[broken"), "[broken");
}

void add_disk(SystemFiles& files, const std::string& directory, const std::string& rotational) {
  files.put(directory + "/queue/rotational", rotational + "\n");
  files.put(directory + "/queue/read_ahead_kb", "128\n");
  files.put(directory + "/size", "1000\n");
}

class Devices : public ::testing::Test {
 protected:
  Devices() {
    files_.put("/proc/self/mountinfo", std::string{kMounts});
    add_disk(files_, "/sys/devices/ata/block/sda", "1");
    files_.put("/sys/devices/ata/block/sda/device/wwid", "t10.ATA disk\n");
    files_.put("/sys/devices/ata/block/sda/sda2/partition", "2\n");
    files_.link("/sys/dev/block/8:2", "/sys/devices/ata/block/sda/sda2");
    add_disk(files_, "/sys/devices/pci/nvme/nvme0n1", "0");
    files_.put("/sys/devices/pci/nvme/nvme0n1/wwid", "eui.01\n");
    files_.put("/sys/devices/pci/nvme/nvme0n1/nvme0n1p1/partition", "1\n");
    files_.link("/sys/dev/block/259:1", "/sys/devices/pci/nvme/nvme0n1/nvme0n1p1");
    files_.link("/sys/class/block/nvme0n1p1", "/sys/devices/pci/nvme/nvme0n1/nvme0n1p1");
    add_disk(files_, "/sys/devices/virtual/block/dm-0", "1");
    files_.put("/sys/devices/virtual/block/dm-0/dm/uuid", "LVM-1\n");
    files_.link("/sys/devices/virtual/block/dm-0/slaves/sda2", "/sys/devices/ata/block/sda/sda2");
    files_.link("/sys/dev/block/253:0", "/sys/devices/virtual/block/dm-0");
    add_disk(files_, "/sys/devices/virtual/block/md0", "0");
    files_.put("/sys/devices/virtual/block/md0/md/uuid", "raid-1\n");
    files_.link("/sys/devices/virtual/block/md0/slaves/sda2", "/sys/devices/ata/block/sda/sda2");
    files_.link("/sys/devices/virtual/block/md0/slaves/nvme0n1", "/sys/devices/pci/nvme/nvme0n1");
    files_.link("/sys/dev/block/9:0", "/sys/devices/virtual/block/md0");
    add_disk(files_, "/sys/devices/pci0/virtio1/block/vda", "1");
    files_.link("/sys/dev/block/254:0", "/sys/devices/pci0/virtio1/block/vda");
    files_.put("/sys/class/bdi/0:46/read_ahead_kb", "128\n");
  }
  SystemFiles files_;
};

struct DeviceCase {
  const char* name;
  const char* path;
  DeviceKind kind;
  const char* key;
  bool direct;
};
void PrintTo(const DeviceCase& c, std::ostream* out) { *out << c.name; }
class DeviceKinds : public Devices, public ::testing::WithParamInterface<DeviceCase> {};

TEST_P(DeviceKinds, AreToldFromTheSystem) {
  const Device device = device_of(files_, GetParam().path);
  EXPECT_EQ(device.kind, GetParam().kind) << name_of(device.kind);
  EXPECT_EQ(device.key, GetParam().key);
  EXPECT_EQ(takes_direct_reads(device), GetParam().direct);
}
INSTANTIATE_TEST_SUITE_P(
    Pages, DeviceKinds,
    ::testing::Values(
        DeviceCase{"PartitionOfADisk", "/a", DeviceKind::kRotational, "disk:t10.ATA disk", true},
        DeviceCase{"AVolumeOnOneDiskIsThatDisk", "/home/a", DeviceKind::kRotational,
                   "disk:t10.ATA disk", true},
        DeviceCase{"OneSlowDiskMakesARaidSlow", "/raid/a", DeviceKind::kRotational, "disk:raid-1",
                   true},
        DeviceCase{"ByItsSource", "/pool/a", DeviceKind::kSolid, "disk:eui.01", true},
        DeviceCase{"AVirtualDiskDoesNotKnow", "/vm/a", DeviceKind::kUnknown, "disk:vda:1000", true},
        DeviceCase{"Nfs", "/mnt/nas/a", DeviceKind::kNetwork, "net:nas", true},
        DeviceCase{"Smb", "/mnt/smb/a", DeviceKind::kNetwork, "net:box", true},
        DeviceCase{"Fuse", "/mnt/ssh/a", DeviceKind::kUser, "fuse.sshfs:me@host:/x:/mnt/ssh",
                   false},
        DeviceCase{"Memory", "/mnt/ram/a", DeviceKind::kMemory, "memory", false},
        DeviceCase{"Overlay", "/over/a", DeviceKind::kUnknown, "overlay:overlay:/over", false}),
    [](const auto& test) { return test.param.name; });

TEST_F(Devices, ASystemThatTellsNothingIsUnknown) {
  const SystemFiles empty;
  const Device device = device_of(empty, "/a");
  EXPECT_EQ(device.kind, DeviceKind::kUnknown);
  EXPECT_EQ(device.key, "unknown");
  EXPECT_FALSE(takes_direct_reads(device));
  EXPECT_EQ(read_ahead_finding(device), "");
}

TEST_F(Devices, TooLittleReadAheadIsFoundWithItsCommand) {
  EXPECT_THAT(read_ahead_finding(device_of(files_, "/a")),
              HasSubstr("echo 1024 | sudo tee /sys/devices/ata/block/sda/queue/read_ahead_kb"));
  EXPECT_THAT(read_ahead_finding(device_of(files_, "/mnt/nas/a")),
              HasSubstr("/sys/class/bdi/0:46/read_ahead_kb"));
  EXPECT_EQ(read_ahead_finding(device_of(files_, "/pool/a")), "");
  files_.put("/sys/devices/pci/nvme/nvme0n1/queue/read_ahead_kb", "16\n");
  EXPECT_THAT(read_ahead_finding(device_of(files_, "/pool/a")), HasSubstr("128 KiB would be"));
  files_.put("/sys/devices/pci/nvme/nvme0n1/queue/read_ahead_kb", "lots\n");
  EXPECT_EQ(read_ahead_finding(device_of(files_, "/pool/a")), "");
}

TEST(RealDevice, HasAKeyAndAFileSystem) {
  const Device device = device_of(Files::real(), "/proc/self/exe");
  EXPECT_NE(device.key, "unknown");
  EXPECT_NE(device.file_system, "");
}

}  // namespace
}  // namespace hearth
