// SPDX-License-Identifier: Apache-2.0
#include "front/memory/memory_room.h"

namespace hearth::front {

MemoryRoom room_of(const MachineMemory& machine) {
  MemoryRoom room{machine.total, machine.room(), std::nullopt};
  if (!machine.cgroup) return room;
  room.cap = machine.cgroup->limit;
  room.cap_name = "cgroup " + machine.cgroup->path;
  if (!room.total || *room.cap < *room.total) room.total = room.cap;
  return room;
}

MemoryRoom room_of(const DeviceMemory& device) { return {device.total, device.free, std::nullopt}; }

}  // namespace hearth::front
