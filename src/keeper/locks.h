// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/result.h"
#include "wire/keeper_messages.h"

namespace hearth::keeper {

// File pages that this process maps and locks, so that the kernel does not take them back. Belongs
// to one thread; everything is let go with the object.
class Locks {
 public:
  // Maps and locks all pieces under `id`, in their order, in place of what it had before. Reads
  // what is missing from the device, and returns when all of it is there. Errors: kNoSpace, with
  // what the system allows and how to have more; kCorrupt for a piece of no file. Nothing is held
  // under `id` after an error.
  Result<> keep(std::uint64_t id, const wire::KeepMessage& what, const std::vector<Fd>& files);
  void forget(std::uint64_t id) { held_.erase(id); }

  // In whole pages.
  Bytes locked() const;

 private:
  // One mapping; unlocked and gone with the object.
  class Mapping {
   public:
    Mapping(void* address, std::size_t length) : address_{address}, length_{length} {}
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping();
    Result<> lock() const;
    std::size_t length() const { return length_; }

   private:
    void* address_;  // null once moved from
    std::size_t length_;
  };
  static Result<Mapping> map(const wire::KeepMessage::Piece& piece, const std::vector<Fd>& files);

  std::map<std::uint64_t, std::vector<Mapping>> held_;
};

// What this process may lock in all; nullopt: as much as it wants.
std::optional<Bytes> lock_limit();

}  // namespace hearth::keeper
