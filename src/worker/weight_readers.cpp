// SPDX-License-Identifier: Apache-2.0
#include "worker/weight_readers.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "repack/repack_file.h"
#include "worker/idle_priority.h"

namespace hearth::worker {

using engine::Home;
using engine::Weight;

namespace {

constexpr int kNice = 10;  // where nobody waits
constexpr std::chrono::seconds kLook{1};

// Of this thread alone.
void set_nice(int nice) { ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice); }

TimePoint now() { return Clock::real().now(); }

// Of a reader.
thread_local bool this_thread_is_idle = false;

}  // namespace

WeightReaders::WeightReaders(engine::WeightSet& weights, Plan plan, Calls calls,
                             const LoadFlags& flags)
    : weights_{weights},
      plan_{std::move(plan)},
      calls_{std::move(calls)},
      flags_{flags},
      pages_{plan_.message.read, plan_.message.block} {}

WeightReaders::~WeightReaders() {
  {
    std::unique_lock lock{mutex_};
    stop_ = true;
    stopped_.notify_all();
    const std::chrono::seconds patience{plan_.message.stall_seconds};
    if (!stopped_.wait_for(lock, patience, [this] { return done(); })) {
      log::error("load.stuck", {{"seconds", patience.count()}});
      std::_Exit(EXIT_FAILURE);
    }
  }
  threads_.clear();
}

// What has been told as there is not given up any more.
bool WeightReaders::stopped() const {
  return stop_.load(std::memory_order_relaxed) ||
         (flags_.give_up.load(std::memory_order_relaxed) && !over_.load(std::memory_order_relaxed));
}

// Another reader does what this one has not done.
bool WeightReaders::is_replaced() const {
  return this_thread_is_idle && replaced_.load(std::memory_order_relaxed);
}

int WeightReaders::file_of(const Weight& weight) const {
  return weight.from_stored ? plan_.stored_file
                            : plan_.files[static_cast<std::size_t>(weight.shard)];
}

FilePages::Range WeightReaders::range_of(const Weight& weight) const {
  return {file_of(weight), weight.offset, weights_.source(weight)};
}

void WeightReaders::start() {
  figures_.read_begin = figures_.read_end = now();
  look();
  if (unfinished_ == 0) {
    over_ = true;
    calls_.ready();
    weights_.gate().open_all();
  }
  start_threads();
  if (unfinished_ > 0) stall_watch_ = std::jthread{[this] { watch_for_stalls(); }};
}

void WeightReaders::start_threads() {
  running_ += plan_.message.readers;
  for (int i = 0; i < plan_.message.readers; ++i) {
    threads_.emplace_back([this] {
      begin_priority();
      run();
      end_thread();
    });
  }
}

void WeightReaders::hurry() {
  if (over_ || stopped() || replaced_) return;
  {
    std::lock_guard lock{mutex_};
    if (idle_.empty() || come_back(idle_)) return idle_.clear();
  }
  replaced_ = true;
  start_threads();
}

// What an evaluation waits for is as urgent as that; lowered, it would be read only while the
// evaluation stands still.
void WeightReaders::begin_priority() {
  std::lock_guard lock{mutex_};
  if (!flags_.idle) return set_nice(0);
  become_idle();
  this_thread_is_idle = true;
  idle_.push_back(::gettid());
}

void WeightReaders::end_thread() {
  std::lock_guard lock{mutex_};
  std::erase(idle_, ::gettid());
  --running_;
  stopped_.notify_all();
}

std::optional<std::size_t> WeightReaders::next_job() {
  if (is_replaced()) return std::nullopt;
  if (const std::size_t job = next_.fetch_add(1); job < jobs_.size()) return job;
  return std::nullopt;
}

// As long as there are readers who may hand one over.
std::optional<std::size_t> WeightReaders::await_returned_job() {
  if (!replaced_ || this_thread_is_idle) return std::nullopt;
  std::unique_lock lock{mutex_};
  while (!stopped() && returned_.empty() && !idle_.empty()) stopped_.wait_for(lock, kLook);
  if (stopped() || returned_.empty()) return std::nullopt;
  const std::size_t job = returned_.back();
  returned_.pop_back();
  return job;
}

// What is mapped and in the page cache can be computed with at once.
void WeightReaders::look() {
  const auto weights = weights_.weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Weight& weight = weights[i];
    Job job{i, FilePages::missing_of(range_of(weight)), !weight.lazy};
    figures_.missing += job.missing;
    const bool in_place = weight.home == Home::kMapped ||
                          (weight.home == Home::kStored && !plan_.message.check_stored);
    if (in_place && job.missing == Bytes{}) {
      job.waited_for = false;
      weights_.gate().open(i);
    }
    if (job.waited_for) {
      ++unfinished_;
      total_ += weight.size;
    }
    jobs_.push_back(job);
  }
  // Whoever waits goes first; the order among those stays.
  std::stable_partition(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.waited_for; });
}

void WeightReaders::run() {
  bool urgent = !this_thread_is_idle;
  FilePages::Scratch scratch;
  engine::DeviceUpload upload{[this](std::size_t job) { finish(jobs_[job]); }};
  while (!stopped()) {
    auto next = next_job();
    if (!next) {
      upload.flush();
      next = await_returned_job();
    }
    if (!next) return;
    const std::size_t i = *next;
    if (urgent && !jobs_[i].waited_for) {
      urgent = false;
      set_nice(kNice);
    }
    if (weights_.weights()[jobs_[i].weight].home == Home::kDevice) {
      send(i, upload, scratch);
      continue;
    }
    upload.flush();  // nobody waits for what is on the device while this is read
    do_job(i, scratch);
  }
  if (flags_.give_up && claim_failure()) {
    fail_with(Error{ErrorCode::kCancelled, "the load was given up"});
  }
}

void WeightReaders::do_job(std::size_t index, FilePages::Scratch& scratch) {
  const Job& job = jobs_[index];
  auto brought = bring(job, scratch);
  if (brought) return finish(job);
  const bool handed_over = brought.error().code() == ErrorCode::kCancelled && is_replaced();
  if (!handed_over) return fail_job(job, std::move(brought).error());
  std::lock_guard lock{mutex_};
  returned_.push_back(index);
  stopped_.notify_all();
}

// It is finished once its bytes have arrived.
void WeightReaders::send(std::size_t job, engine::DeviceUpload& upload,
                         FilePages::Scratch& scratch) {
  const Weight& weight = weights_.weights()[jobs_[job].weight];
  const FilePages::Range range = range_of(weight);
  const auto fill = [&](std::uint64_t offset, std::span<std::byte> into) {
    const FilePages::Range piece{range.file, range.offset + offset,
                                 range.mapped.subspan(offset, into.size())};
    return pages_.copy(piece, into, scratch, [this](Bytes size) {
      took(size);
      return !stopped();
    });
  };
  auto sent = upload.upload(job, weight.tensor, fill);
  if (!sent) fail_job(jobs_[job], std::move(sent).error());
}

void WeightReaders::fail_job(const Job& job, Error error) {
  const bool stopping = error.code() == ErrorCode::kCancelled && !flags_.give_up;
  if (stopping) return;
  if (!claim_failure()) {
    // Evaluations have this weight's pages already, or fault them in, and meet the device's error
    // themselves.
    log::warn("load.late_error", {{"reason", error.message()}});
    return;
  }
  weights_.blank(weights_.weights()[job.weight]);
  fail_with(std::move(error));
}

Result<> WeightReaders::bring(const Job& job, FilePages::Scratch& scratch) {
  const Weight& weight = weights_.weights()[job.weight];
  switch (weight.home) {
    case Home::kMapped:
      return pages_.map(range_of(weight), scratch, [this, &job](Bytes size) {
        if (job.waited_for) took(size);
        return goes_on();
      });
    case Home::kStored:
      return bring_stored(job, scratch);
    case Home::kCopied:
      return bring_copy(job.weight, scratch);
    case Home::kRepacked:
      return bring_converted(weight, scratch);
    case Home::kDevice:  // is sent
      break;
  }
  return {};
}

Result<> WeightReaders::bring_copy(std::size_t index, FilePages::Scratch& scratch) {
  const Weight& weight = weights_.weights()[index];
  auto copied =
      pages_.copy(range_of(weight), weights_.destination(weight), scratch, [this](Bytes size) {
        took(size);
        return goes_on();
      });
  if (!weight.from_stored) return copied;
  if (copied && is_as_stored(weight, weights_.destination(weight))) return {};
  if (!copied && copied.error().code() == ErrorCode::kCancelled) return copied;
  return compute_anew(index, copied ? "checksum" : "read", scratch);
}

bool WeightReaders::is_as_stored(const Weight& weight, std::span<const std::byte> bytes) const {
  const auto known = plan_.checksums.find(weight.name);
  return known != plan_.checksums.end() && repack::checksum_of(bytes) == known->second;
}

// A stored weight whose bytes cannot be had, or are not what they were.
Result<> WeightReaders::compute_anew(std::size_t index, const char* why,
                                     FilePages::Scratch& scratch) {
  {
    std::lock_guard lock{mutex_};
    figures_.stored_refused = why;
  }
  if (!weights_.rebuild(index)) return fail(ErrorCode::kNoSpace, "no memory for weights");
  return bring_converted(weights_.weights()[index], scratch);
}

Result<> WeightReaders::bring_converted(const Weight& weight, FilePages::Scratch& scratch) {
  const auto on_block = [this](Bytes size) {
    took(size);
    return goes_on();
  };
  const FilePages::Range range = range_of(weight);
  std::vector<std::byte> copy;
  std::span<const std::byte> bytes = range.mapped;
  if (plan_.message.read == wire::ReadMode::kDirect) {
    copy.resize(range.mapped.size());
    if (auto got = pages_.copy(range, copy, scratch, on_block); !got) return got;
    bytes = copy;
  } else if (auto got = pages_.map(range, scratch, on_block); !got) {
    return got;
  }
  const TimePoint begin = now();
  weights_.set(weight, bytes);
  const TimePoint end = now();
  if (copy.empty()) unmap_pages(range.mapped);
  std::lock_guard lock{mutex_};
  figures_.repack_begin = std::min(figures_.repack_begin.value_or(begin), begin);
  figures_.repack_end = std::max(figures_.repack_end.value_or(end), end);
  return {};
}

Result<> WeightReaders::bring_stored(const Job& job, FilePages::Scratch& scratch) {
  const Weight& weight = weights_.weights()[job.weight];
  const FilePages::Range range = range_of(weight);
  auto mapped = pages_.map(range, scratch, [this, &job](Bytes size) {
    if (job.waited_for) took(size);
    return goes_on();
  });
  // It has been computed with, unchecked, as it was to be.
  if (!job.waited_for) return mapped;
  if (mapped && is_as_stored(weight, range.mapped)) return {};
  if (!mapped && mapped.error().code() == ErrorCode::kCancelled) return mapped;
  return compute_anew(job.weight, mapped ? "checksum" : "read", scratch);
}

void WeightReaders::took(Bytes bytes) {
  const Bytes done{done_.fetch_add(bytes.count()) + bytes.count()};
  {
    std::lock_guard lock{mutex_};
    if (!over_) figures_.read_end = now();
  }
  std::unique_lock lock{telling_, std::try_to_lock};
  if (lock && calls_.progress) calls_.progress(std::min(done, total_), total_);
}

void WeightReaders::finish(const Job& job) {
  if (!job.waited_for) return;
  bool last = false;
  {
    std::lock_guard lock{mutex_};
    last = --unfinished_ == 0 && !over_.exchange(true);
  }
  if (!last) return weights_.gate().open(job.weight);
  {
    std::lock_guard lock{telling_};
    calls_.ready();
  }
  stopped_.notify_all();
  weights_.gate().open_all();
}

// Whoever gets true is the one to say that the load has failed.
bool WeightReaders::claim_failure() { return !over_.exchange(true); }

void WeightReaders::fail_with(Error error) {
  next_ = jobs_.size();
  stopped_.notify_all();
  std::lock_guard lock{telling_};
  calls_.failed(std::move(error));
}

void WeightReaders::watch_for_stalls() {
  const std::chrono::seconds limit{plan_.message.stall_seconds};
  std::uint64_t seen = 0;
  TimePoint since = now();
  std::unique_lock lock{mutex_};
  while (!over_ && !stopped()) {
    stopped_.wait_for(lock, kLook);
    const std::uint64_t done = done_.load();
    // One that nobody waits for may have to wait for others.
    if (done != std::exchange(seen, done) || flags_.idle) since = now();
    if (over_ || now() - since < limit) continue;
    const double part = 100.0 * static_cast<double>(done) /
                        static_cast<double>(std::max<std::uint64_t>(1, total_.count()));
    lock.unlock();
    if (!claim_failure()) return;
    stuck_ = true;
    return fail_with(
        Error{ErrorCode::kUnavailable,
              fmt::format("reading the model's file stands still at {:.0f} % since {} s", part,
                          limit.count())});
  }
}

WeightReaders::Figures WeightReaders::figures() const {
  std::lock_guard lock{mutex_};
  return figures_;
}

}  // namespace hearth::worker
