// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/sha256.h"
#include "engine/context.h"
#include "engine/tokens.h"
#include "worker/arena.h"

namespace hearth::worker {

// Writes blocks into arena slots as records, on a thread of its own at low priority. A record's
// header comes last, so that half a record is none. Thread-safe.
class BlockKeeper {
 public:
  struct Job {
    std::uint64_t id = 0;  // the caller's, for Kept
    int slot = 0;
    Digest root{};
    Digest parent{};                    // the root, for the first block
    std::uint32_t first = 0;            // position of its first token
    std::vector<engine::Token> tokens;  // blocks::kBlockTokens of them, or those of a part
    engine::Context::BlockState state;
  };
  struct Kept {
    std::uint64_t id = 0;
    // Of the record. Errors: kNoSpace, kInvalid (larger than a slot), kUnavailable; what the slot
    // holds then is no record.
    Result<Bytes> size;
  };
  using OnKept = std::function<void(const Kept&)>;

  // `arena` outlives this object. `on_kept` is called on the writing thread, in the order of
  // try_put(), once for each job that was not dropped by the destructor.
  BlockKeeper(const Arena& arena, OnKept on_kept);
  ~BlockKeeper();  // finishes the record that is being written and drops the others
  BlockKeeper(const BlockKeeper&) = delete;
  BlockKeeper& operator=(const BlockKeeper&) = delete;

  // False, and nothing is moved from `job`, while 64 MiB are queued. A job is always taken when
  // there is no other.
  bool try_put(Job&& job);

  // Jobs that were put and have not been reported yet.
  std::size_t unwritten() const;

  // After pause() nothing is written until go_on(), but for a quarter of a megabyte that is under
  // way: what computes on all processors at once waits for each of them.
  void pause();
  void go_on();

 private:
  void run();
  Kept keep(const Job& job);
  Result<> write_record(const Job& job);
  Result<> write(int slot, std::size_t at, std::span<const std::byte> bytes);
  void wait_for_turn();

  const Arena& arena_;
  const OnKept on_kept_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;    // the first one is being written
  std::size_t queued_ = 0;  // bytes of them
  bool stop_ = false;
  bool paused_ = false;
  std::jthread thread_;
};

}  // namespace hearth::worker
