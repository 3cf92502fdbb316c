// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/stage.h"
#include "base/sync.h"
#include "front/transfer.h"

namespace hearth::front {

// One who waits for a pull. What it has not taken yet is replaced by what is newer, so that a slow
// one costs nothing. Belongs to the loop.
class PullWaiter : public Transfer {
 public:
  enum class Left { kGone, kDetached };
  // Called once, when it stops waiting, unless the work ended first.
  using OnLeft = std::function<void(PullWaiter&, Left)>;

  // `name`: what the model is to be called, canonical; empty: as its source says.
  PullWaiter(EventLoop& loop, std::string name, OnLeft on_left);
  ~PullWaiter() override;
  PullWaiter(const PullWaiter&) = delete;
  PullWaiter& operator=(const PullWaiter&) = delete;

  Task<TransferEvent> next() override;
  void cancel() override;
  void detach() override { detached_ = true; }

  const std::string& name() const { return name_; }
  void tell(TransferProgress progress);
  // The last event, and what the work took: the pull knows this waiter no more.
  void finish(TransferEvent last, std::vector<Stage> stages);
  void note(std::vector<Stage> stages) { stages_ = std::move(stages); }
  // What the work had taken when this one left, or it ended.
  const std::vector<Stage>& stages() const { return stages_; }

  static constexpr std::chrono::milliseconds kLeastApart{100};

 private:
  void leave();
  std::optional<TimePoint> due() const;

  EventLoop& loop_;
  const std::string name_;
  OnLeft on_left_;  // empty once it has left
  bool detached_ = false;
  Notify changed_;
  std::deque<TransferProgress> told_;  // at most one for each step of each file
  std::optional<TransferEvent> last_;
  std::vector<Stage> stages_;
  std::optional<TransferProgress> taken_;
  TimePoint taken_at_;
};

}  // namespace hearth::front
