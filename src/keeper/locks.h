// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
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
  // Asked between two steps of a long work; false ends it.
  using GoOn = std::function<bool()>;

  // Locking reads from the device; it is done in steps of `step`, a multiple of all page sizes.
  explicit Locks(Bytes step = Bytes{std::uint64_t{64} << 20}) : step_{step} {}

  // Maps and locks all pieces under `id` in place of what it had before; a page that several pieces
  // are on counts once. Reads what is missing from the device, and returns when all of it is there.
  // Errors: kNoSpace, with what the system allows and how to have more; kCorrupt for a piece of no
  // file; kConflict when ended. Nothing is held under `id` after an error.
  Result<> keep(std::uint64_t id, const wire::KeepMessage& what, const std::vector<Fd>& files,
                const GoOn& go_on);
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
    Result<> lock(std::size_t step, const GoOn& go_on) const;
    std::size_t length() const { return length_; }

   private:
    void* address_;  // null once moved from
    std::size_t length_;
  };
  // Whole pages of one file.
  struct Span {
    std::size_t file;
    std::uint64_t begin;
    std::uint64_t end;
  };
  static Result<std::vector<Span>> spans_of(const wire::KeepMessage& what, std::size_t files);
  static Result<Mapping> map(const Span& span, const std::vector<Fd>& files);

  const Bytes step_;
  std::map<std::uint64_t, std::vector<Mapping>> held_;
};

// What this process may lock in all; nullopt: as much as it wants.
std::optional<Bytes> lock_limit();

}  // namespace hearth::keeper
