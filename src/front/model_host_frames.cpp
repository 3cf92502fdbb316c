// SPDX-License-Identifier: Apache-2.0
//
// ModelHost listening: what the worker says, and what it means.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "front/model_host.h"
#include "wire/failure.h"

namespace hearth::front {

using wire::Frame;
using wire::FrameType;

void ModelHost::on_frame(Frame frame) {
  if (frame.request == 0) {
    on_host_frame(frame);
    return;
  }
  last_sign_of_work_ = world_.loop.now();
  if (frame.type == FrameType::kBlocks) return on_blocks(frame);
  const auto found = inboxes_.find(frame.request);
  if (found != inboxes_.end()) found->second->push(std::move(frame));
}

// In the worker's order, whichever requests they are of: a report builds on those before it. So it
// may overtake what its own request has not read yet.
void ModelHost::on_blocks(const Frame& frame) {
  auto blocks = wire::decode_blocks(frame.payload);
  if (!blocks) return worker_->kill("blocks: " + blocks.error().message());
  if (world_.prefixes != nullptr) world_.prefixes->note_blocks(frame.request, *blocks);
}

// Before any request can be handed over, so that it is there before the first plan.
void ModelHost::lend_arena() {
  if (world_.prefixes == nullptr) return;
  std::optional<Fd> arena = world_.prefixes->arena(model_.artifact);
  if (!arena) return;
  Frame frame = wire::make_frame(FrameType::kArena, 0, "{}");
  frame.descriptors.push_back(std::move(*arena));
  send(std::move(frame));
}

void ModelHost::on_host_frame(const Frame& frame) {
  switch (frame.type) {
    case FrameType::kReady:
      return on_ready(frame);
    case FrameType::kProgress:
      return on_progress(frame);
    case FrameType::kLoaded:
      return on_loaded(frame);
    case FrameType::kUnloaded:
      return on_unloaded();
    case FrameType::kFailed:
      return on_failed(frame);
    case FrameType::kStored:
      return on_stored(frame);
    case FrameType::kHeartbeat:
      if (auto beat = wire::decode_heartbeat(frame.payload)) {
        if (beat->steps != heartbeat_.steps) last_sign_of_work_ = world_.loop.now();
        heartbeat_ = *beat;
        if (!load_begun_) held_.fresh = beat->anonymous + beat->swapped;
        live_tokens_ = beat->live_tokens;
        if (level_ == WeightsLevel::kResident) most_held_ = std::max(most_held_, load_held());
      }
      return;
    default:
      worker_->kill("it sent a frame of type " + std::to_string(static_cast<int>(frame.type)));
  }
}

void ModelHost::on_unloaded() {
  live_tokens_ = 0;
  context_cells_ = 0;
  leave_.reset();
  if (storing_ && !stored_) {
    stored_ = fail(ErrorCode::kConflict, "the weights were unloaded meanwhile");
    changed();
  }
  set_level(WeightsLevel::kHollow);
  load_if_wanted();
}

void ModelHost::on_stored(const Frame& frame) {
  auto stored = wire::decode_stored(frame.payload);
  if (!stored) return worker_->kill("stored: " + stored.error().message());
  if (!storing_ || stored_) return;  // the weights went meanwhile, and nobody waits for it
  if (stored->error.empty()) {
    stored_ = std::move(*stored);
  } else {
    stored_ = fail(ErrorCode::kUnavailable, stored->error);
  }
  changed();
}

void ModelHost::on_ready(const Frame& frame) {
  auto ready = wire::decode_ready(frame.payload);
  if (!ready) return worker_->kill("ready: " + ready.error().message());
  spawn_stages_.front().end = world_.loop.now();
  ready_ = std::move(*ready);
  if (world_.variant != nullptr && world_.variant->empty()) *world_.variant = ready_->backend;
  log::info("worker.ready", {{"model", model_.name},
                             {"pid", worker_->pid()},
                             {"backend", ready_->backend},
                             {"ms", milliseconds_of(spawn_stages_.front().length())}});
  lend_arena();
  if (share_.gives_up() || share_.behind) give_way(share_);
  level_ = WeightsLevel::kHollow;
  changed();
}

void ModelHost::on_progress(const Frame& frame) {
  auto progress = wire::decode_progress(frame.payload);
  if (!progress) return worker_->kill("progress: " + progress.error().message());
  last_sign_of_work_ = world_.loop.now();
  load_fraction_ = std::clamp(progress->fraction, 0.0, 1.0);
  for (auto& [request, inbox] : inboxes_) inbox->push(*progress);
  if (on_change_) on_change_(*this);
}

// Until the worker takes a load up the time goes by all the same; no wait for others is meant.
void ModelHost::note_hand_over(std::vector<Stage>& stages) const {
  if (stages.empty()) return;
  const auto first =
      std::min_element(stages.begin(), stages.end(),
                       [](const Stage& a, const Stage& b) { return a.start < b.start; });
  const TimePoint taken_up = first->start;
  if (taken_up > load_asked_) {
    stages.push_back(Stage{StageKind::kLoad, load_asked_, taken_up, Bytes{}});
  }
}

void ModelHost::on_loaded(const Frame& frame) {
  auto loaded = wire::decode_loaded(frame.payload);
  if (!loaded) return worker_->kill("loaded: " + loaded.error().message());
  LoadRecord record;
  record.number = ++loads_;
  record.request = load_begun_by_;
  record.cause = weights_cause_;
  record.length = world_.loop.now() - load_asked_;
  record.loaded = std::move(*loaded);
  note_hand_over(record.loaded.stages);
  for (const Stage& stage : std::exchange(planned_, {})) record.loaded.stages.push_back(stage);
  context_cells_ = record.loaded.context;
  // By the engine's account, until the kernel's comes with the next heartbeat.
  const wire::MemoryUse& use = record.loaded.memory;
  const Bytes own = use.weights + use.context + use.compute;
  heartbeat_.anonymous = std::max(heartbeat_.anonymous, own - std::min(own, use.device));
  heartbeat_.mapped = std::max(heartbeat_.mapped, use.mapped);
  held_.held_device = held_.held_device || record.loaded.memory.device > Bytes{};
  ticket_.reset();
  cancel_sent_ = false;  // it came too late
  load_wanted_ = false;
  log::info("model.loaded", {{"model", model_.name},
                             {"ms", milliseconds_of(record.length)},
                             {"bytes_read", record.loaded.bytes_read.count()},
                             {"missing", record.loaded.missing.count()},
                             {"cause", code_of(record.cause)}});
  last_load_ = std::move(record);
  load_fraction_ = 1;
  forgive();
  turn_until_ =
      admission_.left() + static_cast<std::uint64_t>(admission_.active() + admission_.waiting());
  set_level(WeightsLevel::kResident);
  for (auto& [request, inbox] : inboxes_) inbox->push(WeightsLoaded{});
}

void ModelHost::on_failed(const Frame& frame) {
  auto failed = wire::decode_failed(frame.payload);
  if (!failed) return worker_->kill("failed: " + failed.error().message());
  if (std::exchange(cancel_sent_, false) && failed->code == name_of(ErrorCode::kCancelled)) {
    ticket_.reset();
    return on_load_given_up();
  }
  failure_ = wire::error_of(*failed);
  if (watch_ && watch_->written()) failure_ = files_written_error();
  log::warn("model.load_failed", {{"model", model_.name}, {"reason", failure_->message()}});
  if (!ready_) {
    // It could not open the model: there is nothing to keep it for.
    worker_->close();
    return;
  }
  leave_.reset();
  ticket_.reset();
  load_wanted_ = false;
  for (auto& [request, inbox] : inboxes_) inbox->push(*failure_);
  set_level(WeightsLevel::kHollow);
}

}  // namespace hearth::front
