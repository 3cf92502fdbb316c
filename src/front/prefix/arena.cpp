// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "wire/prefix_messages.h"

namespace hearth::front {
namespace {

constexpr int kSlots = 1 << 16;

off_t start_of(int slot) {
  return static_cast<off_t>(slot) * static_cast<off_t>(wire::kArenaPitch.count());
}

}  // namespace

Result<Arena> Arena::create(const std::string& name) {
  Fd memory{::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!memory) return fail_errno("memfd_create", errno);
  if (::ftruncate(memory.get(), start_of(kSlots)) != 0) return fail_errno("ftruncate", errno);
  // A worker that a stranger's file has taken over must not pull pages from under us.
  if (::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail_errno("seal", errno);
  }
  return Arena{std::move(memory)};
}

Result<Fd> Arena::share() const {
  Fd copy{::fcntl(memory_.get(), F_DUPFD_CLOEXEC, 0)};
  if (!copy) return fail_errno("dup", errno);
  return copy;
}

std::optional<int> Arena::take() {
  if (!free_.empty()) {
    const int slot = *free_.begin();
    free_.erase(free_.begin());
    return slot;
  }
  if (next_ == kSlots) return std::nullopt;
  return next_++;
}

Result<std::vector<std::byte>> Arena::read(int slot, Bytes size) const {
  if (size > wire::kArenaPitch) return fail(ErrorCode::kCorrupt, "larger than a slot");
  std::vector<std::byte> bytes(size.count());
  const auto at = static_cast<std::uint64_t>(start_of(slot));
  const Result<std::size_t> done = Files::real().read_at(memory_, at, bytes);
  if (!done) return Failed{done.error()};
  if (*done != bytes.size()) return fail(ErrorCode::kCorrupt, "short");
  return bytes;
}

void Arena::punch(int slot) const {
  (void)::fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start_of(slot),
                    static_cast<off_t>(wire::kArenaPitch.count()));
}

Bytes Arena::resident() const {
  struct stat status{};
  if (::fstat(memory_.get(), &status) != 0) return {};
  return Bytes{static_cast<std::uint64_t>(status.st_blocks) * 512};
}

}  // namespace hearth::front
