// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "front/memory/machine_memory.h"

namespace hearth::front {

// What a budget has to know of the memory that it divides: of the machine, or of one device.
struct MemoryRoom {
  std::optional<Bytes> total;
  std::optional<Bytes> available;  // to be had at once
  std::optional<Bytes> cap;        // a limit around this process
  std::string cap_name{};          // "cgroup /sys/fs/cgroup/hearth.slice"
};

// One device, as a worker measured it.
struct DeviceMemory {
  std::string name;
  std::optional<Bytes> total;
  std::optional<Bytes> free;
};

MemoryRoom room_of(const MachineMemory& machine);
MemoryRoom room_of(const DeviceMemory& device);

}  // namespace hearth::front
