// SPDX-License-Identifier: Apache-2.0
#include "worker/load_report.h"

#include <iterator>
#include <utility>

namespace hearth::worker {
namespace {

constexpr Duration kBetweenReports = std::chrono::milliseconds{50};

}  // namespace

void LoadReport::progress(const char* stage, double fraction, Bytes done, Bytes total) {
  wire::ProgressMessage message;
  {
    std::lock_guard lock{mutex_};
    const TimePoint at = Clock::real().now();
    if (sent_ || (stage == stage_ && at - reported_ < kBetweenReports)) return;
    stage_ = stage;
    reported_ = at;
  }
  message.stage = stage;
  message.fraction = fraction;
  message.done = done;
  message.total = total;
  replies_.send(wire::FrameType::kProgress, frame_, message);
}

void LoadReport::context_stands(Context context) {
  std::lock_guard lock{mutex_};
  context_ = std::move(context);
  send_if_complete();
}

void LoadReport::weights_are_there(Weights weights) {
  std::lock_guard lock{mutex_};
  weights_ = std::move(weights);
  send_if_complete();
}

void LoadReport::send_if_complete() {
  if (!context_ || !weights_ || std::exchange(sent_, true)) return;
  const Reads after = reads_so_far();
  wire::LoadedMessage message;
  message.bytes_read = after.from_device - before_.from_device;
  message.major_faults = after.major_faults - before_.major_faults;
  message.stages = std::move(weights_->stages);
  for (Stage& stage : message.stages) {
    if (stage.kind == StageKind::kRead) stage.bytes = message.bytes_read;
  }
  std::move(context_->stages.begin(), context_->stages.end(), std::back_inserter(message.stages));
  message.memory = context_->memory;
  message.context = context_->cells;
  message.repack = weights_->repack;
  message.stored_refused = weights_->stored_refused;
  message.missing = weights_->missing;
  replies_.send(wire::FrameType::kLoaded, frame_, message);
}

}  // namespace hearth::worker
