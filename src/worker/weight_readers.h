// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "engine/device_upload.h"
#include "engine/weight_set.h"
#include "wire/messages.h"
#include "worker/file_pages.h"
#include "worker/load_flags.h"

namespace hearth::worker {

// Threads that bring a model's weights to where the engine computes with them, in the order in
// which an evaluation first reads them, and open the gate behind each. What is in the page cache
// already keeps nobody waiting: its pages are mapped meanwhile. A load that nobody waits for gets
// what others leave of processors and disks.
class WeightReaders {
 public:
  struct Plan {
    wire::LoadMessage message;
    std::vector<int> files;  // the model's, in order
    int stored_file = -1;
    std::unordered_map<std::string, std::uint64_t> checksums;  // of stored weights, by name
  };
  // Called on a reader's thread, or on the starting one, but never two at once.
  struct Calls {
    std::function<void(Bytes done, Bytes total)> progress;
    // Whatever evaluations wait for is there, but they do not know it yet. Once, before failed().
    std::function<void()> ready;
    // The rest will not come. At most once, and never after ready().
    std::function<void(Error)> failed;
  };
  // What has happened so far.
  struct Figures {
    Bytes missing;  // before the first read
    TimePoint read_begin, read_end;
    std::optional<TimePoint> repack_begin, repack_end;
    std::string stored_refused;  // a stored weight whose bytes were wrong; it was computed anew
  };

  // All that is passed outlives the readers. Given up, they end early: failed(kCancelled).
  WeightReaders(engine::WeightSet& weights, Plan plan, Calls calls, const LoadFlags& flags);
  ~WeightReaders();  // breaks off
  WeightReaders(const WeightReaders&) = delete;
  WeightReaders& operator=(const WeightReaders&) = delete;

  // Looks at what is there, and begins.
  void start();

  // Of the thread that started them, after the load's `idle` has ended: readers become as urgent as
  // others, or, where the system does not let them, hand over to new ones.
  void hurry();

  Figures figures() const;

  // Every reader has ended.
  bool done() const { return running_ == 0; }
  // Some reader is in a call to the kernel that does not return. Destroying this then ends the
  // process, after the stall time-out: nothing else lets such a thread go.
  bool stuck() const { return stuck_; }

 private:
  struct Job {
    std::size_t weight;  // index
    Bytes missing;
    bool waited_for;  // an evaluation may wait at its gate
  };

  void look();
  void start_threads();
  void run();
  void begin_priority();
  void end_thread();
  std::optional<std::size_t> next_job();
  std::optional<std::size_t> await_returned_job();
  bool is_replaced() const;
  void do_job(std::size_t job, FilePages::Scratch& scratch);
  void send(std::size_t job, engine::DeviceUpload& upload, FilePages::Scratch& scratch);
  void fail_job(const Job& job, Error error);
  Result<> bring(const Job& job, FilePages::Scratch& scratch);
  Result<> bring_copy(std::size_t weight, FilePages::Scratch& scratch);
  Result<> bring_converted(const engine::Weight& weight, FilePages::Scratch& scratch);
  Result<> bring_stored(const Job& job, FilePages::Scratch& scratch);
  Result<> compute_anew(std::size_t weight, const char* why, FilePages::Scratch& scratch);
  bool is_as_stored(const engine::Weight& weight, std::span<const std::byte> bytes) const;
  int file_of(const engine::Weight& weight) const;
  FilePages::Range range_of(const engine::Weight& weight) const;
  void took(Bytes bytes);
  void finish(const Job& job);
  bool claim_failure();
  void fail_with(Error error);
  void watch_for_stalls();
  bool stopped() const;
  bool goes_on() const { return !stopped() && !is_replaced(); }

  engine::WeightSet& weights_;
  const Plan plan_;
  const Calls calls_;
  const LoadFlags& flags_;
  FilePages pages_;
  std::vector<Job> jobs_;
  Bytes total_;  // of what is waited for
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> stuck_{false};
  std::atomic<bool> replaced_{false};  // the idle readers
  std::atomic<int> running_{0};        // readers
  std::atomic<bool> over_{false};      // ready() or failed() is being called, or has been
  std::size_t unfinished_ = 0;         // of what is waited for; under mutex_
  std::atomic<std::uint64_t> done_{0};
  std::vector<pid_t> idle_;            // readers; under mutex_
  std::vector<std::size_t> returned_;  // jobs that idle readers handed over; under mutex_
  mutable std::mutex mutex_;           // of figures_ and the above
  std::mutex telling_;                 // of calls_
  std::condition_variable stopped_;
  Figures figures_;
  std::vector<std::jthread> threads_;
  std::jthread stall_watch_;
};

}  // namespace hearth::worker
