// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/page_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "layers/pages/read_plan.h"
#include "layers/pages/residency.h"

namespace hearth {
namespace {

using namespace literals;

constexpr Bytes kPiece = 4_MiB;
// Smaller holes are read together with what is between them: that is copied, not read again.
constexpr Bytes kGrain = 16_KiB;
// Blocks that the kernel is told of ahead of a single reader, so that the device is never idle.
constexpr std::size_t kAhead = 2;
// The room is looked at again after so much.
constexpr Bytes kBetweenLooks = 64_MiB;
// Never filled: other programs live here too.
constexpr Bytes kMostReserve = 256_MiB;

struct Block {
  std::size_t file = 0;  // index into the load set
  Range range;
};

struct Plan {
  std::vector<Fd> files;
  std::vector<Block> blocks;
  Bytes missing;
  Bytes resident;
};

Result<Plan> plan_reads(const Files& files, const LoadSet& load_set, const ReadStyle& style) {
  Plan plan;
  for (const FileRanges& part : load_set) {
    Result<Fd> file = files.open_read(part.path);
    if (!file) return Failed{std::move(file).error()};
    // The kernel reads ahead by the page, over what we know to be missing or not.
    ::posix_fadvise(file->get(), 0, 0, POSIX_FADV_RANDOM);
    for (const Range& range : part.ranges) {
      const auto runs = missing_runs(
          range, kPiece, kGrain, [&](Range asked) { return residency_of(*file, asked).resident; });
      Bytes missing;
      for (const Range& block : blocks_of(runs, style.block)) {
        plan.blocks.push_back(Block{plan.files.size(), block});
        missing += block.size;
      }
      plan.missing += missing;
      plan.resident += range.size - missing;
    }
    plan.files.push_back(std::move(*file));
  }
  if (style.direction == ReadDirection::kBackward) std::ranges::reverse(plan.blocks);
  return plan;
}

// Reads a plan's blocks on some threads. One use each.
class Reading {
 public:
  Reading(const ReadWorld& world, const Plan& plan, Progress& progress)
      : world_{world}, plan_{plan}, progress_{progress} {}

  Result<> run(int readers) {
    look_at_room();
    announces_ = readers == 1;
    for (std::size_t i = 0; announces_ && i < kAhead; ++i) announce(i);
    const auto useful = static_cast<int>(std::min<std::size_t>(plan_.blocks.size(), 64));
    std::vector<std::jthread> helpers;
    for (int i = 1; i < std::min(readers, useful); ++i) helpers.emplace_back([this] { work(); });
    work();
    helpers.clear();
    if (error_) return Failed{*error_};
    return {};
  }
  Bytes done() const { return done_; }
  bool full() const { return full_; }
  std::size_t failed_file() const { return failed_file_; }  // where the error was

 private:
  void work() {
    std::vector<std::byte> buffer;
    while (const Block* block = next()) {
      buffer.resize(static_cast<std::size_t>(block->range.size.count()));
      Result<std::size_t> got =
          world_.files.read_at(plan_.files[block->file], block->range.offset, buffer);
      std::lock_guard lock{mutex_};
      if (!note(*block, std::move(got))) return;
    }
  }

  const Block* next() {
    std::lock_guard lock{mutex_};
    if (error_ || full_ || next_ >= plan_.blocks.size() || progress_.cancelled()) return nullptr;
    const Block& block = plan_.blocks[next_];
    if (taken_ >= look_again_at_) look_at_room();
    if (most_ && taken_ + block.range.size > *most_) {
      full_ = true;
      return nullptr;
    }
    taken_ += block.range.size;
    if (announces_) announce(next_ + kAhead);
    ++next_;
    return &block;
  }

  // Under the lock. False: it went wrong.
  bool note(const Block& block, Result<std::size_t> got) {
    if (error_) return false;  // another reader's: the first one counts
    if (!got) {
      error_ = std::move(got).error();
    } else if (*got < block.range.size.count()) {
      error_ = Error{ErrorCode::kCorrupt, "the file has become shorter"};
    }
    failed_file_ = block.file;
    if (error_) return false;
    done_ += block.range.size;
    progress_.report(done_, plan_.missing);
    return true;
  }

  // The room holds what is there of the set too, because the kernel would give that back.
  void look_at_room() {
    look_again_at_ = taken_ + kBetweenLooks;
    const std::optional<Bytes> room = world_.room ? world_.room() : std::nullopt;
    if (!room) return;
    const Bytes reserve = std::min(Bytes{room->count() / 20}, kMostReserve);
    most_ = *room - reserve - (plan_.resident - world_.pinned);
  }

  void announce(std::size_t index) const {
    if (index >= plan_.blocks.size()) return;
    const Block& block = plan_.blocks[index];
    if (most_ && taken_ + block.range.size > *most_) return;
    // Only a hint: where it fails, the read itself will do.
    ::posix_fadvise(plan_.files[block.file].get(), static_cast<off_t>(block.range.offset),
                    static_cast<off_t>(block.range.size.count()), POSIX_FADV_WILLNEED);
  }

  const ReadWorld& world_;
  const Plan& plan_;
  Progress& progress_;
  bool announces_ = false;

  std::mutex mutex_;  // the members below
  std::size_t next_ = 0;
  Bytes taken_;  // by readers, done or not
  Bytes done_;
  Bytes look_again_at_;
  std::optional<Bytes> most_;  // that may be read in all
  bool full_ = false;
  std::optional<Error> error_;
  std::size_t failed_file_ = 0;
};

}  // namespace

Result<ReadReport> read_missing(const ReadWorld& world, const LoadSet& load_set,
                                const ReadStyle& style, Progress& progress) {
  const Result<Plan> plan = plan_reads(world.files, load_set, style);
  if (!plan) return Failed{plan.error()};
  ReadReport report;
  report.missing = plan->missing;
  progress.report(Bytes{}, plan->missing);
  const TimePoint begin = world.clock.now();
  Reading reading{world, *plan, progress};
  if (auto done = reading.run(style.readers); !done) {
    return Failed{std::move(done).error().during("read " + load_set[reading.failed_file()].path)};
  }
  report.time = world.clock.now() - begin;
  report.read = reading.done();
  if (reading.full()) report.left_out = plan->missing - report.read;
  report.complete = reading.full() || report.read == plan->missing;
  return report;
}

Result<Bytes> drop_pages(const Files& files, const LoadSet& load_set) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  Bytes gone;
  for (const FileRanges& part : load_set) {
    Result<Fd> file = files.open_read(part.path);
    if (!file) return Failed{std::move(file).error()};
    for (const Range& range : part.ranges) {
      const Residency before = residency_of(*file, range);
      if (before.dirty > Bytes{}) ::fdatasync(file->get());
      // The kernel drops whole pages inside what it is told, so tell it of the pages that stick
      // out.
      const std::uint64_t begin = range.offset / page * page;
      const std::uint64_t end = (range.end() + page - 1) / page * page;
      const int error = ::posix_fadvise(file->get(), static_cast<off_t>(begin),
                                        static_cast<off_t>(end - begin), POSIX_FADV_DONTNEED);
      if (error != 0) return fail_errno("drop pages of " + part.path, error);
      gone += before.resident - residency_of(*file, range).resident;
    }
  }
  return gone;
}

}  // namespace hearth
