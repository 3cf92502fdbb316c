// SPDX-License-Identifier: Apache-2.0
// The hash's side of a download.
#include <utility>

#include "transfer/download.h"
#include "transfer/transit.h"

namespace hearth::transfer {

// One part, or the end of a pass, as it was when the lock was held.
struct Download::Job {
  PartTable::Turn turn;
  std::uint64_t offset = 0;
  std::uint64_t salt = 0;
  std::uint64_t epoch = 0;
};

Result<HashStep> Download::hash_some() {
  if (failed_) return Failed{*failed_};
  Job job;
  bool end = false;
  {
    const std::lock_guard lock{mutex_};
    seen_ = moves_;
    if (table_.mode() == PartTable::Mode::kDone) return HashStep::kComplete;
    end = table_.at_end();
    const std::optional<PartTable::Turn> turn = table_.turn();
    if (!end && !turn) return HashStep::kWait;
    if (turn) job.turn = *turn;
    if (end) job.turn.mode = table_.mode();
    if (end) job.turn.part = table_.parts();
    job.offset = table_.begin_of(job.turn.part);
    job.salt = salt_;
    job.epoch = epoch_;
  }
  return end ? end_of_pass(job) : hash(job);
}

Result<HashStep> Download::hash(const Job& job) {
  buffer_.resize(wanted_.geometry.part.count());
  const std::span<std::byte> bytes = std::span{buffer_}.first(job.turn.length);
  const Result<std::size_t> read = files_.read_at(data_, job.offset, bytes);
  if (!read || *read < bytes.size()) {
    if (!job.turn.fresh) return lose(job);
    // What was written a moment ago is there, unless all was begun anew meanwhile.
    if (void_now(job)) return HashStep::kProgress;
    if (!read) return Failed{read.error()};
    return fail(ErrorCode::kUnavailable, "read: what was just written is not there");
  }
  const Digest digest = Sha256{}.add(bytes).finish();
  const bool other = job.turn.expected && *job.turn.expected != digest;
  return other && !job.turn.fresh ? lose(job) : keep(job, digest);
}

bool Download::void_now(const Job& job) const {
  const std::lock_guard lock{mutex_};
  return job.epoch != epoch_;
}

// The part is not what it was: it is asked for again.
Result<HashStep> Download::lose(const Job& job) {
  Result<> written =
      write_record(files_, journal_, job.salt, job.turn.part, {0, job.turn.expected});
  if (!written) return Failed{std::move(written).error()};
  const std::lock_guard lock{mutex_};
  if (job.epoch == epoch_) table_.lost(job.turn);
  return HashStep::kProgress;
}

Result<HashStep> Download::keep(const Job& job, const Digest& digest) {
  if (job.turn.expected != digest) {
    const PartRecord record{static_cast<std::uint32_t>(job.turn.length), digest};
    Result<> written = write_record(files_, journal_, job.salt, job.turn.part, record);
    if (!written) return Failed{std::move(written).error()};
  }
  if (job.turn.mode == PartTable::Mode::kHash) {
    if (job.turn.part == 0) whole_ = std::make_unique<Sha256>();
    whole_->add(std::span<const std::byte>{buffer_}.first(job.turn.length));
  }
  const std::uint64_t cached = wanted_.geometry.cached.count();
  files_.start_write_back(data_, job.offset, Bytes{job.turn.length});
  if (job.offset >= cached) {
    files_.drop_cached(data_, job.offset - cached, wanted_.geometry.part);
  }
  const std::lock_guard lock{mutex_};
  if (job.epoch == epoch_) table_.passed(job.turn, digest);
  return HashStep::kProgress;
}

Result<HashStep> Download::end_of_pass(const Job& job) {
  bool right = false;
  if (job.turn.mode == PartTable::Mode::kHash) {
    if (job.turn.part == 0) whole_ = std::make_unique<Sha256>();  // an empty file
    digest_ = whole_->finish();
    whole_.reset();
    right = !wanted_.promised || *wanted_.promised == digest_;
  }
  int looks = 0;
  {
    const std::lock_guard lock{mutex_};
    if (job.epoch != epoch_) return HashStep::kProgress;
    if (right) table_.done();
    if (right) return HashStep::kComplete;
    if (table_.look_again() == PartTable::Next::kParts) return HashStep::kProgress;
    looks = table_.look();
  }
  failed_ = Error{ErrorCode::kCorrupt,
                  "the server sends another content than was promised: its SHA-256 is " +
                      hex_of(digest_) + ", promised was " + hex_of(*wanted_.promised) +
                      (looks > 1 ? "; fetching it again did not help" : "")};
  return Failed{*failed_};
}

void Download::wait_for_bytes() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return stopped_ || moves_ != seen_; });
}

Result<Finished> Download::finish() {
  const DownloadState end = state();
  const Bytes size = end.total.value_or(Bytes{});
  Result<> done = files_.resize(data_, size);
  if (done) done = files_.sync(data_);
  if (done) done = files_.sync(journal_);
  if (!done) {
    files_.drop_cached(data_, 0, size);
    files_.drop_cached(journal_, 0, journal_size(table_.parts()));
    return Failed{std::move(done).error()};
  }
  return Finished{digest_, size, identity_.validator};
}

}  // namespace hearth::transfer
