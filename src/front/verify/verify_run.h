// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "front/verify/model_check.h"
#include "front/verify/verify_waiter.h"

namespace hearth::front {

// One verify and all who wait for it. Held by its task and by its waiters' callbacks. Belongs to
// the loop.
class VerifyRun : public CheckControl {
 public:
  VerifyRun(EventLoop& loop, VerifyRequest request, const bool& stopping)
      : loop_{loop}, request_{std::move(request)}, stopping_{stopping}, began_{loop.now()} {}

  const VerifyRequest& request() const { return request_; }
  // One more who waits; hears the verdicts so far.
  void add(VerifyWaiter& waiter);
  void remove(VerifyWaiter& waiter, VerifyWaiter::Left how);
  // Nobody waits any more, and nobody said that it should go on.
  bool is_abandoned() const { return waiters_.empty() && !detached_; }

  void set_total(Bytes total) { total_ = total; }
  // A model's verdict; `size` of it counts as done.
  void tell(Verified verified, Bytes size);
  void received(Bytes bytes) { received_ += bytes; }
  void progress(TransferProgress progress);
  // To all who wait. `error`: in place of the sum of it all.
  void finish();
  void finish(const Error& error);

  Task<bool> may_go_on() override { co_return !stopping_ && !is_abandoned(); }
  void reading(const Artifact& artifact, std::size_t index) override;
  void progressed(Bytes done) override;
  bool is_heard() const override { return true; }
  void set_model(std::string name) { now_.model = std::move(name); }

  static constexpr std::chrono::milliseconds kLeastApart{100};

 private:
  void finish_with(const TransferEvent& last);

  EventLoop& loop_;
  const VerifyRequest request_;
  const bool& stopping_;
  const TimePoint began_;
  std::vector<VerifyWaiter*> waiters_;
  bool detached_ = false;
  std::vector<Verified> verified_;
  TransferProgress now_;
  TimePoint told_at_;
  Bytes total_;
  Bytes done_;          // of models before this one
  Bytes files_before_;  // of this model
  Bytes read_;          // since it began
  Bytes file_done_;
  Bytes received_;
};

}  // namespace hearth::front
