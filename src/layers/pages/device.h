// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"

namespace hearth {

// What a file lies on, as far as it matters for reading.
enum class DeviceKind {
  kUnknown,
  kSolid,       // no heads that move
  kRotational,  // some disk below has
  kNetwork,     // NFS, SMB and their like
  kUser,        // a program of its own (FUSE): a network, often
  kMemory,      // tmpfs: nothing is ever missing
};
std::string_view name_of(DeviceKind kind);  // "unknown", "ssd", "rotational", "network", ...

// Belongs to whoever asked; plain values.
struct Device {
  // The same for all files on one disk (or server), and after a restart: by what the hardware or
  // the volume calls itself, else by the kernel's name and the size. Never empty.
  std::string key = "unknown";
  std::string name = "unknown";  // for people: "nvme0n1", "nas"
  DeviceKind kind = DeviceKind::kUnknown;
  std::string file_system;          // "ext4", "nfs4", "fuse.sshfs"; empty: not found out
  std::string source;               // "/dev/sda1", "nas:/models"
  bool stacked = false;             // overlayfs: reads past the page cache may be refused
  std::optional<Bytes> read_ahead;  // what the kernel reads ahead of a mapping
  std::string read_ahead_file;      // where that is set
};

// Where reading past the page cache is worth a try.
bool takes_direct_reads(const Device& device);

// Says when the kernel reads too little ahead for mapped files on this device, with the command
// that changes it; empty: it is enough, or nobody knows. Needs no privilege to tell.
std::string read_ahead_finding(const Device& device);

// Looks into /proc/self/mountinfo and /sys through `files`; what cannot be found out stays at its
// default. Blocks for a millisecond or so, not for the device itself. `path`: absolute.
Device device_of(const Files& files, const std::string& path);

}  // namespace hearth
