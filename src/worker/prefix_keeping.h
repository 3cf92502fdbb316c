// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/tokens.h"
#include "worker/block_keeper.h"
#include "worker/kv_room.h"
#include "worker/prefix_work.h"
#include "worker/replies.h"

namespace hearth::worker {

// Copies evaluated blocks out of cells into the front's arena, and reports each request's once. The
// rest that is no whole block is the last of them, a part.
// While a request runs nothing is copied, unless the model has a window that would move past its
// blocks; afterwards block by block when there is nothing to compute, and at the latest before the
// cells are used for something else. Belongs to the inference thread.
class PrefixKeeping {
 public:
  enum class When { kWhenIdle, kAtOnce };  // the latter for a model with a window

  // `on_kept` is called on another thread; what it is given is to come back
  // by note_kept().
  PrefixKeeping(KvRoom& room, Replies& replies, When when, BlockKeeper::OnKept on_kept);

  // A request's cells are in `slot` from now on. `prompt`: its tokens that are not the reply's.
  struct Begin {
    std::uint64_t request = 0;
    int slot = 0;
    int prompt = 0;
  };
  void begin(const Begin& begin, const PrefixWork& work);
  // More of the slot's cells hold something.
  void evaluated(int slot);
  // The request is over; its first `count` tokens may be kept.
  void end(std::uint64_t request, int count);

  // Nothing of what there is so far is kept any more.
  void forget();

  // See KvRoom::BeforeLoss.
  void before_loss(int slot, int kept);

  // Sequences are evaluated from now on, until go_on(): what was copied and is not overdue is
  // written after them.
  void make_way();
  void go_on();

  bool has_work() const;
  // Whether something should be copied or written even beside sequences that compute.
  bool is_overdue(TimePoint now) const;
  // One block, if the writer has room for it.
  void work();
  // All there is; returns when it is written.
  void finish();
  // Reports jobs of which nothing is left to do: after their requests' own ends.
  void tell_finished();

  void note_kept(const BlockKeeper::Kept& kept);

 private:
  enum class Fate { kPending, kWritten, kFailed, kElsewhere };
  struct Entry {
    Digest name{};
    int tokens = 0;
    Bytes size;
    Fate fate = Fate::kPending;
  };
  struct Job {
    std::uint64_t request = 0;
    int slot = 0;
    int prompt = 0;
    int upto = 0;             // tokens that are this request's, and may be kept
    int held = 0;             // of these, still in the slot's cells
    std::uint64_t begun = 0;  // reports before it
    bool ended = false;
    TimePoint ended_at;
    Digest root{};
    std::vector<engine::Token> tokens;  // all of them, once it has ended
    int from = 0;                       // first block
    std::vector<int> places;            // arena slots
    Bytes limit;
    Bytes put;
    std::vector<Entry> entries;                          // of the blocks from the first one on
    std::map<int, engine::Context::BlockState> rescued;  // by block, from cells that were needed
    std::set<std::uint64_t> after;                       // jobs that are to be reported before
    std::string reason;                                  // why nothing more is put
  };
  enum class Wait { kYes, kNo };

  int next_of(const Job& job) const { return job.from + static_cast<int>(job.entries.size()); }
  static int tokens_at(const Job& job, int block);
  bool has_next(const Job& job) const;
  static bool has_pending(const Job& job);
  bool put_next(Job& job, Wait wait);
  Result<engine::Context::BlockState> state_of(Job& job, int block);
  void rescue(Job& job, int kept);
  void put_all(Job& job);
  bool is_elsewhere(Job& job, const Digest& name);
  bool is_finished(const Job& job) const;
  void report(const Job& job);
  void remember(const Digest& name);

  KvRoom& room_;
  Replies& replies_;
  const When when_;
  const BlockKeeper::OnKept on_kept_;
  std::shared_ptr<const Arena> arena_;  // shared with readers
  std::unique_ptr<BlockKeeper> keeper_;
  std::list<Job> jobs_;                    // in the order of beginning
  std::map<Digest, std::uint64_t> known_;  // blocks that were reported not long ago, and when
  std::deque<Digest> known_in_order_;
  std::uint64_t reports_ = 0;
};

}  // namespace hearth::worker
