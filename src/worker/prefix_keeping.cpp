// SPDX-License-Identifier: Apache-2.0
#include "worker/prefix_keeping.h"

#include <algorithm>
#include <span>
#include <thread>
#include <utility>

#include "base/log.h"
#include "blocks/block_chain.h"

namespace hearth::worker {
namespace {

using engine::Token;
constexpr int kBlock = static_cast<int>(blocks::kBlockTokens);
constexpr int kLeast = static_cast<int>(blocks::kLeastPart);
// A server that is never idle copies a block now and then all the same, a millisecond beside a
// step.
constexpr Duration kLongEnough = std::chrono::seconds{1};
constexpr std::chrono::microseconds kWriterPause{200};
// Blocks copied, but not written yet, when there is time for both: a request that comes then shares
// the processors with the writing of so many and no more.
constexpr std::size_t kMostUnwritten = 2;
constexpr std::size_t kMostKnown = 4096;

TimePoint now() { return Clock::real().now(); }

// Of the record.
Bytes size_of(const engine::Context::BlockState& state) {
  return Bytes{blocks::kHeaderSize + state.base.size() + state.window.size()};
}

}  // namespace

PrefixKeeping::PrefixKeeping(KvRoom& room, Replies& replies, When when, BlockKeeper::OnKept on_kept)
    : room_{room}, replies_{replies}, when_{when}, on_kept_{std::move(on_kept)} {}

void PrefixKeeping::begin(const Begin& begin, const PrefixWork& work) {
  if (work.keep.empty() || !work.arena) return;
  if (!keeper_) {
    arena_ = work.arena;
    keeper_ = std::make_unique<BlockKeeper>(*arena_, on_kept_);
  }
  Job job;
  job.request = begin.request;
  job.begun = reports_;
  job.slot = begin.slot;
  job.prompt = begin.prompt;
  job.root = work.stored.root;
  job.from = work.keep_from;
  job.places = work.keep;
  job.limit = work.keep_limit;
  jobs_.push_back(std::move(job));
}

void PrefixKeeping::evaluated(int slot) {
  if (when_ == When::kWhenIdle) return;
  for (Job& job : jobs_) {
    if (job.slot != slot || job.ended) continue;
    const auto held = room_.tokens(slot);
    const std::size_t known = std::min(job.tokens.size(), held.size());
    job.tokens.insert(job.tokens.end(), held.begin() + static_cast<std::ptrdiff_t>(known),
                      held.end());
    job.upto = job.held = room_.exact(slot);
    put_all(job);
  }
}

void PrefixKeeping::end(std::uint64_t request, int count) {
  for (Job& job : jobs_) {
    if (job.request != request || job.ended) continue;
    job.ended = true;
    job.ended_at = now();
    job.upto = job.held = std::min(count, room_.used(job.slot));
    const auto held = room_.tokens(job.slot).first(static_cast<std::size_t>(job.upto));
    job.tokens.assign(held.begin(), held.end());
  }
}

// That a block holds, or will hold when it is kept; 0: nothing, or too little. What is no whole
// block may still become one until the request has ended.
int PrefixKeeping::tokens_at(const Job& job, int block) {
  const int tokens = std::min(job.upto - block * kBlock, kBlock);
  if (tokens == kBlock) return tokens;
  return job.ended && tokens >= kLeast ? tokens : 0;
}

// There is another block, and a place for it.
bool PrefixKeeping::has_next(const Job& job) const {
  return job.reason.empty() && job.entries.size() < job.places.size() &&
         tokens_at(job, next_of(job)) > 0;
}

// The same block is, or was not long ago, kept for another request: it is written once, and
// reported first. Only of jobs that wait for nobody themselves, so that none waits in a circle.
bool PrefixKeeping::is_elsewhere(Job& job, const Digest& name) {
  // What was reported before this job began the front knew, and has let go of since.
  const auto known = known_.find(name);
  if (known != known_.end() && known->second > job.begun) return true;
  for (const Job& other : jobs_) {
    if (&other == &job || !other.after.empty()) continue;
    const bool has = std::ranges::any_of(other.entries, [&name](const Entry& entry) {
      return entry.name == name && entry.fate != Fate::kFailed;
    });
    if (!has) continue;
    job.after.insert(other.request);
    return true;
  }
  return false;
}

bool PrefixKeeping::put_next(Job& job, Wait wait) {
  const auto first = static_cast<std::size_t>(next_of(job)) * blocks::kBlockTokens;
  const auto tokens = std::span{job.tokens};
  Digest parent = job.root;
  if (!job.entries.empty()) {
    parent = job.entries.back().name;
  } else if (first > 0) {
    parent = blocks::chain_of(job.root, tokens.first(first)).back();
  }
  Entry entry;
  entry.tokens = tokens_at(job, next_of(job));
  const auto block = tokens.subspan(first, static_cast<std::size_t>(entry.tokens));
  entry.name = blocks::digest_of(parent, block);
  if (is_elsewhere(job, entry.name)) {
    entry.fate = Fate::kElsewhere;
    job.entries.push_back(entry);
    return true;
  }
  auto state = state_of(job, next_of(job));
  if (!state) {
    job.reason = state.error().message();
    return false;
  }
  entry.size = size_of(*state);
  if (job.put + entry.size > job.limit) {
    job.reason = "its share of memory is used up";
    return false;
  }
  BlockKeeper::Job record;
  record.id = job.request;
  record.slot = job.places[job.entries.size()];
  record.root = job.root;
  record.parent = parent;
  record.first = static_cast<std::uint32_t>(first);
  record.tokens.assign(block.begin(), block.end());
  record.state = *std::move(state);
  if (wait == Wait::kYes) go_on();
  while (!keeper_->try_put(std::move(record))) {
    if (wait == Wait::kNo) {
      job.rescued[next_of(job)] = std::move(record.state);
      return false;
    }
    std::this_thread::sleep_for(kWriterPause);
  }
  job.put += entry.size;
  job.entries.push_back(entry);
  return true;
}

Result<engine::Context::BlockState> PrefixKeeping::state_of(Job& job, int block) {
  const auto rescued = job.rescued.extract(block);
  if (rescued) return std::move(rescued.mapped());
  const int count = tokens_at(job, block);
  if (block * kBlock + count > job.held) {
    return fail(ErrorCode::kConflict, "its cells were needed");
  }
  return room_.context().save_block(job.slot, block * kBlock, count);
}

void PrefixKeeping::put_all(Job& job) {
  while (has_next(job) && put_next(job, Wait::kYes)) {
  }
}

// Out of cells that are about to be used for something else; what stays there can wait.
void PrefixKeeping::rescue(Job& job, int kept) {
  const int most = job.from + static_cast<int>(job.places.size());
  Bytes taken = job.put;
  for (const auto& [block, state] : job.rescued) taken += size_of(state);
  for (int block = std::max(next_of(job), kept / kBlock); block < most; ++block) {
    const int count = tokens_at(job, block);
    if (!job.reason.empty() || count == 0 || block * kBlock + count > job.held) break;
    if (job.rescued.contains(block)) continue;
    auto state = room_.context().save_block(job.slot, block * kBlock, count);
    if (!state || taken + size_of(*state) > job.limit) break;
    taken += size_of(*state);
    job.rescued[block] = *std::move(state);
  }
  job.held = std::min(job.held, kept);
}

void PrefixKeeping::forget() {
  for (Job& job : jobs_) {
    job.reason = "it was to be forgotten";
    job.rescued.clear();
  }
  known_.clear();
  known_in_order_.clear();
}

void PrefixKeeping::before_loss(int slot, int kept) {
  for (Job& job : jobs_) {
    if (job.slot == slot && job.ended) rescue(job, kept);
  }
}

bool PrefixKeeping::has_work() const {
  return std::ranges::any_of(jobs_, [this](const Job& job) { return job.ended && has_next(job); });
}

bool PrefixKeeping::is_overdue(TimePoint when) const {
  return std::ranges::any_of(jobs_, [&](const Job& job) {
    return job.ended && (has_next(job) || has_pending(job)) && when - job.ended_at > kLongEnough;
  });
}

// A model with a window is copied from while it is evaluated, and waits when the writer is behind.
void PrefixKeeping::make_way() {
  if (keeper_ && when_ == When::kWhenIdle) keeper_->pause();
}

void PrefixKeeping::go_on() {
  if (keeper_) keeper_->go_on();
}

void PrefixKeeping::work() {
  const auto next =
      std::ranges::find_if(jobs_, [this](const Job& job) { return job.ended && has_next(job); });
  if (next == jobs_.end()) return;
  if (keeper_->unwritten() >= kMostUnwritten) return std::this_thread::sleep_for(kWriterPause);
  if (!put_next(*next, Wait::kNo)) std::this_thread::sleep_for(kWriterPause);
  tell_finished();
}

void PrefixKeeping::finish() {
  go_on();
  for (Job& job : jobs_) put_all(job);
  while (keeper_ && keeper_->unwritten() > 0) std::this_thread::sleep_for(kWriterPause);
}

void PrefixKeeping::note_kept(const BlockKeeper::Kept& kept) {
  for (Job& job : jobs_) {
    if (job.request != kept.id) continue;
    const auto entry = std::ranges::find(job.entries, Fate::kPending, &Entry::fate);
    if (entry == job.entries.end()) continue;
    entry->fate = kept.size ? Fate::kWritten : Fate::kFailed;
    if (kept.size || !job.reason.empty()) continue;
    job.reason = kept.size.error().message();
    log::warn("prefix.not_kept", {{"reason", job.reason}});
  }
  tell_finished();
}

bool PrefixKeeping::has_pending(const Job& job) {
  return std::ranges::any_of(job.entries,
                             [](const Entry& entry) { return entry.fate == Fate::kPending; });
}

bool PrefixKeeping::is_finished(const Job& job) const {
  if (!job.ended || has_next(job) || has_pending(job)) return false;
  return std::ranges::none_of(
      jobs_, [&job](const Job& other) { return job.after.contains(other.request); });
}

void PrefixKeeping::tell_finished() {
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    if (!is_finished(*job)) {
      ++job;
      continue;
    }
    report(*job);
    jobs_.erase(job);
    job = jobs_.begin();  // others may have waited for this one
  }
}

void PrefixKeeping::report(const Job& job) {
  ++reports_;
  wire::BlocksMessage message;
  for (const Entry& entry : job.entries) {
    if (entry.fate == Fate::kFailed) break;  // what follows has no predecessor
    message.sizes.push_back(entry.size);
    message.part = entry.tokens < kBlock ? entry.tokens : 0;
    remember(entry.name);
  }
  const auto prompt = static_cast<std::size_t>(job.prompt);
  if (job.tokens.size() > prompt) {
    message.generated.assign(job.tokens.begin() + job.prompt, job.tokens.end());
  }
  message.reason = job.reason;
  replies_.send(wire::FrameType::kBlocks, job.request, message);
}

void PrefixKeeping::remember(const Digest& name) {
  if (!known_.insert_or_assign(name, reports_).second) return;
  known_in_order_.push_back(name);
  if (known_in_order_.size() <= kMostKnown) return;
  known_.erase(known_in_order_.front());
  known_in_order_.pop_front();
}

}  // namespace hearth::worker
