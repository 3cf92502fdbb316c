// SPDX-License-Identifier: Apache-2.0
#include "worker/arena.h"

#include <unistd.h>

#include <cerrno>

#include "wire/prefix_messages.h"

namespace hearth::worker {
namespace {

bool is_inside(int slot, std::uint64_t offset, std::size_t size) {
  const std::uint64_t pitch = wire::kArenaPitch.count();
  return slot >= 0 && offset <= pitch && size <= pitch - offset;
}

off_t place_of(int slot, std::uint64_t offset) {
  return static_cast<off_t>(static_cast<std::uint64_t>(slot) * wire::kArenaPitch.count() + offset);
}

}  // namespace

Result<> Arena::read(int slot, std::uint64_t offset, std::span<std::byte> into) const {
  if (!is_inside(slot, offset, into.size())) return fail(ErrorCode::kInvalid, "no such slot");
  off_t at = place_of(slot, offset);
  while (!into.empty()) {
    const ssize_t n = ::pread(memory_.get(), into.data(), into.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("read the arena", errno);
    if (n == 0) return fail(ErrorCode::kCorrupt, "short");
    into = into.subspan(static_cast<std::size_t>(n));
    at += n;
  }
  return {};
}

Result<> Arena::write(int slot, std::uint64_t offset, std::span<const std::byte> bytes) const {
  if (!is_inside(slot, offset, bytes.size())) return fail(ErrorCode::kInvalid, "no such slot");
  off_t at = place_of(slot, offset);
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(memory_.get(), bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("write the arena", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    at += n;
  }
  return {};
}

}  // namespace hearth::worker
