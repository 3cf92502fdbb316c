// SPDX-License-Identifier: Apache-2.0
//
// RequestRun before its model's files are here.
#include <algorithm>
#include <utility>

#include "front/request_run.h"

namespace hearth::front {

Task<Result<TransferDone>> RequestRun::await_files(std::shared_ptr<RequestRun> run, Transfer& pull,
                                                   LayerSnapshot before) {
  const bool partial = before.level == "partial";
  run->account_.facts.artifact_cause =
      partial ? VerdictCode::kArtifactPartial : VerdictCode::kArtifactAbsent;
  run->files_before_ = std::move(before);
  run->account_.before.artifact = *run->files_before_;
  run->pull_ = &pull;
  if (run->cancelled_) pull.cancel();
  run->arm_wait_limit([] { return false; });
  std::optional<Result<TransferDone>> done;
  while (!done) {
    const TransferEvent event = co_await pull.next();
    if (const auto* progress = std::get_if<TransferProgress>(&event)) run->on_transfer(*progress);
    if (const auto* end = std::get_if<TransferDone>(&event)) done.emplace(*end);
    if (const auto* failed = std::get_if<Error>(&event)) done.emplace(Failed{*failed});
  }
  run->disarm_wait_limit();
  run->pull_ = nullptr;
  co_return std::move(*done);
}

void RequestRun::on_transfer(const TransferProgress& transfer) {
  pull_eta_ms_ = transfer.eta_ms;
  Progress progress;
  progress.stage = transfer.stage;
  progress.done_bytes = transfer.all_done;
  progress.total_bytes = transfer.all_total;
  if (transfer.all_total > 0) {
    progress.fraction =
        static_cast<double>(transfer.all_done) / static_cast<double>(transfer.all_total);
  }
  events_.push(std::move(progress));
}

void RequestRun::note_fetched(const std::vector<Stage>& stages, Bytes received) {
  account_.facts.downloaded = received;
  account_.timeline.add(stages);
  queued_until(stages.empty() ? loop_.now() : stages.front().start);
}

}  // namespace hearth::front
