// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "engine/abort_flags.h"
#include "worker/gauges.h"
#include "worker/load_flags.h"
#include "worker/loaded_model.h"
#include "worker/opened_model.h"
#include "worker/prefix_work.h"
#include "worker/replies.h"
#include "worker/request.h"
#include "worker/work_queue.h"

namespace hearth::worker {

// The one thread that owns weights, contexts and slots. Others hand it work; requests that come
// before the weights wait for the kLoad that follows them.
class InferenceThread {
 public:
  InferenceThread(const OpenedModel& opened, LoadedModel::Around around);
  ~InferenceThread();  // breaks off what it is computing

  void load(std::uint64_t frame, wire::LoadMessage message, std::optional<Fd> stored);
  // A load that is under way, or begins before this comes to pass, ends with kCancelled.
  void cancel_load() { flags_.give_up = true; }
  // Somebody waits now for the load under way.
  void hurry() {
    if (flags_.idle.exchange(false)) queue_.push(Hurry{});
  }
  // Writes the repacked weights into `file`; answered by kStored.
  void store(std::uint64_t frame, std::string content, Fd file) {
    queue_.push(Store{frame, std::move(content), std::move(file)});
  }
  // Takes effect when the requests in hand have ended; those that come later wait for the next
  // load.
  void unload(std::uint64_t frame) { queue_.push(Unload{frame}); }
  void submit(RequestPtr request) { queue_.push(std::move(request)); }
  // What the front answered to a request's tokens; may come before the request does. Begins to read
  // at once where there are no weights yet.
  void plan(RequestPtr request, std::shared_ptr<PrefixWork> work);
  // What cells hold is used by nobody after those that have it now, and kept nowhere.
  void forget_cells() { queue_.push(ForgetCells{}); }
  // Some request was cancelled.
  void wake() { queue_.push(Wake{}); }

 private:
  struct Load {
    std::uint64_t frame;
    wire::LoadMessage message;
    std::optional<Fd> stored;
  };
  struct LoadFailed {
    std::uint64_t load;  // number
    Error error;
  };
  struct Store {
    std::uint64_t frame;
    std::string content;
    Fd file;
  };
  struct Stored {
    std::uint64_t load;   // number
    std::uint64_t frame;  // of the kStore frame
    RepackStore::Stored what;
  };
  struct Unload {
    std::uint64_t frame;
  };
  struct Plan {
    RequestPtr request;
    std::shared_ptr<PrefixWork> work;
  };
  struct ForgetCells {};
  struct Wake {};
  struct Hurry {};
  using Work = std::variant<Load, LoadFailed, Store, Stored, Unload, Plan, ForgetCells, Wake, Hurry,
                            RequestPtr>;

  void run();
  LoadedModel::Around with_calls(LoadedModel::Around around);
  void await_work();
  bool has_something_to_compute() const;
  void step();
  bool computes() const { return model_ && opened_.generates; }
  void take_kept();
  void pace_keeping();
  void keep_blocks();
  void keep_all_blocks();
  void drop_plan(const Request& request);
  void handle(Work work);
  void handle_load(Load load);
  void refuse_load(const Load& load);
  void handle_failed(const LoadFailed& failed);
  void end_all(const Error& error);
  void handle_store(Store store);
  void handle_stored(const Stored& stored);
  void drop_model();
  void try_unload();
  void drop_cancelled();
  void admit_waiting();
  enum class Embedded { kAnswered, kNoWeights };
  Embedded embed(const RequestPtr& request);
  Result<std::vector<std::vector<float>>> vectors_of(const Request& request);
  bool rest() const;
  void tell_gauges();

  const OpenedModel& opened_;
  LoadedModel::Around around_;
  WorkQueue<Work> queue_;
  std::mutex kept_mutex_;
  std::vector<BlockKeeper::Kept> kept_;  // under kept_mutex_: written, not taken note of
  std::unique_ptr<LoadedModel> model_;   // its threads write to kept_
  std::uint64_t loads_ = 0;
  std::uint64_t load_frame_ = 0;
  LoadFlags flags_;  // of the load under way
  std::deque<RequestPtr> waiting_;
  std::optional<std::uint64_t> storing_;  // the kStore frame under way
  std::optional<Unload> unload_;          // asked for, not done yet
  std::atomic<bool> has_weights_{false};  // or they are on their way
  std::thread thread_;
};

}  // namespace hearth::worker
