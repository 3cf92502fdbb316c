// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "front/memory/held.h"
#include "front/memory/memory_room.h"
#include "front/memory/reservation.h"

namespace hearth::front {

// The ledger of one memory, the machine's or a device's: how much may be used, what is held, what
// is promised to loads under way. Pure: it sees what it is told, and decides nothing but whether a
// reservation fits.
//
//   limit = the least of
//     - what was configured, or else `share_percent` of what was available at the first reading,
//       with what was held then;
//     - the limit around this process (its cgroup's), less the reserve;
//     - what is possible now: what is held and cannot be reclaimed, and what is available, less the
//       reserve.
//   free  = limit - held - promised, never below zero
//
// Held memory and reading should be of about the same moment: set_held() first, with now_held() for
// each reservation, then set_reading(). What a load takes between the two is missing from both for
// that long; free() then errs to the careful side, and shortfall() takes no promise for it.
//
// Belongs to the loop.
class MemoryBudget {
 public:
  struct Settings {
    std::string name = "memory";       // in sentences: "memory", a device's name
    Bytes configured;                  // 0: the share
    std::optional<Bytes> reserve;      // to be left over; nullopt: default_reserve() of the total
    std::uint64_t share_percent = 80;  // of the available memory; 100: all there is
  };
  explicit MemoryBudget(Settings settings);
  // Of a device: all of it unless configured, and no reserve.
  static MemoryBudget of_device(std::string name, Bytes configured);

  // At run time; a limit below what is held shows in over() and shortfall().
  void set_limit(Bytes configured);
  void set_kept_free(std::optional<Bytes> reserve);

  void set_reading(MemoryRoom room);
  void set_reading(const MachineMemory& machine) { set_reading(room_of(machine)); }
  void set_held(std::vector<Held> held);

  // The largest there is while no reading has told anything and nothing is configured.
  Bytes limit() const;
  // Whence the limit: "memory_mib", "80 % of what was available at the start", ...
  std::string why_limit() const;
  Bytes kept_free() const;  // the reserve
  Bytes held() const;
  Bytes promised() const;
  Bytes free() const;
  const std::string& name() const { return settings_.name; }
  const std::vector<Held>& held_by() const { return held_; }
  const MemoryRoom& room() const { return room_; }

  // How far what is held exceeds the limit.
  Bytes over() const;
  // How much must be given back now, so that what is held and promised keeps within what is
  // configured and the reserve stays free. Never more than is held.
  Bytes shortfall() const;

  // Promises `bytes` to a load of the artifact. Errors: kNoSpace, with the words of explain().
  Result<Reservation> reserve(std::string artifact, Bytes bytes);
  // Promises more to one that turned out to need it. Errors: kNoSpace; the reservation stays.
  Result<> grow(Reservation& reservation, Bytes more);

  // Whether it would fit if all that is held and promised were given back.
  bool fits_alone(Bytes need) const { return need <= limit(); }

  // In numbers why so much does or does not fit: limit and its reason, what is held by what,
  // what is promised, what is free.
  std::string explain(Bytes need) const;

  // A sentence for the log where `configured` exceeds the memory there is, which then is the limit;
  // empty: all is well.
  std::string complaint() const;

  // max(256 MiB, 5 % of the total).
  static Bytes default_reserve(std::optional<Bytes> total);

 private:
  enum class Cause { kConfigured, kShare, kCap, kPossible, kUnknown };
  struct Bound {
    Bytes bytes;
    Cause cause;
  };
  Bound fixed() const;     // what does not follow from what others use now
  Bytes possible() const;  // what does
  Bound bound() const;
  std::string but_kept_free() const;

  Settings settings_;
  MemoryRoom room_;
  std::vector<Held> held_;
  std::optional<Bytes> share_;                                         // of the first reading
  std::shared_ptr<Promises> promises_ = std::make_shared<Promises>();  // see Reservation
};

}  // namespace hearth::front
