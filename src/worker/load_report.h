// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/stage.h"
#include "wire/messages.h"
#include "worker/replies.h"
#include "worker/self_stats.h"

namespace hearth::worker {

// What the front is told of one load: how far it is, and at its end kLoaded, once two things have
// both happened on whichever threads: the context stands, and the weights are there. Thread-safe.
class LoadReport {
 public:
  // `frame`: the request number of the kLoad frame.
  LoadReport(Replies& replies, std::uint64_t frame)
      : replies_{replies}, frame_{frame}, before_{reads_so_far()} {}

  // Not more often than the front wants to know.
  void progress(const char* stage, double fraction, Bytes done = {}, Bytes total = {});

  struct Context {
    std::vector<Stage> stages;  // kLoad, kContext
    wire::MemoryUse memory;
    int cells = 0;
  };
  struct Weights {
    std::vector<Stage> stages;  // kRead, kCompile; the bytes of kRead are filled in here
    const char* repack = "none";
    std::string stored_refused;
    Bytes missing;
  };
  void context_stands(Context context);
  void weights_are_there(Weights weights);

 private:
  void send_if_complete();

  Replies& replies_;
  const std::uint64_t frame_;
  const Reads before_;
  std::mutex mutex_;
  std::optional<Context> context_;
  std::optional<Weights> weights_;
  bool sent_ = false;
  const char* stage_ = nullptr;
  TimePoint reported_;
};

}  // namespace hearth::worker
