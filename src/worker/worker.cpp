// SPDX-License-Identifier: Apache-2.0
#include "worker/worker.h"

#include <utility>

#include "base/log.h"
#include "worker/prepare.h"

namespace hearth::worker {

using wire::Frame;
using wire::FrameType;

Worker::Worker(int socket) : channel_{socket} { abort_.pulse = &gauges_.steps; }

Worker::~Worker() {
  abort_.stop = true;
  to_tokenize_.close();
  if (tokenizer_.joinable()) tokenizer_.join();
}

void Worker::run() {
  heartbeat_ = std::make_unique<Heartbeat>(replies_, gauges_, cpu_);
  while (auto frame = channel_.receive()) handle(std::move(*frame));
  abort_.stop = true;
}

void Worker::handle(Frame frame) {
  if (frame.type == FrameType::kOpen) return open(std::move(frame));
  if (frame.type == FrameType::kGiveWay) return give_way(frame);
  if (!inference_) {
    return replies_.send_error(frame.request, Error{ErrorCode::kConflict, "no model is open"});
  }
  switch (frame.type) {
    case FrameType::kLoad:
      return load(std::move(frame));
    case FrameType::kStore:
      return store(std::move(frame));
    case FrameType::kUnload:
      return inference_->unload(frame.request);
    case FrameType::kGenerate:
      return accept(frame, RequestKind::kGenerate);
    case FrameType::kEmbed:
      return accept(frame, RequestKind::kEmbed);
    case FrameType::kCancel:
      return cancel(frame.request);
    case FrameType::kArena:
      if (!frame.descriptors.empty()) {
        arena_ = std::make_shared<const Arena>(std::move(frame.descriptors.front()));
      }
      return;
    case FrameType::kForgetCells:
      return inference_->forget_cells();
    case FrameType::kPrefixPlan:
      return plan(std::move(frame));
    default:
      log::warn("unexpected_frame", {{"type", static_cast<int>(frame.type)}});
  }
}

void Worker::give_way(const Frame& frame) {
  const auto message = wire::decode_give_way(frame.payload);
  if (!message) return log::warn("bad_give_way", {{"reason", message.error().message()}});
  cpu_.give_way(*message);
  if (inference_) inference_->wake();  // its rest may be over
}

void Worker::open(Frame frame) {
  if (model_) {
    return replies_.send_error(frame.request,
                               Error{ErrorCode::kConflict, "a model is open already"});
  }
  const TimePoint start = Clock::real().now();
  auto message = wire::decode_open(frame.payload);
  if (!message) return replies_.send_error(frame.request, message.error());
  if (frame.descriptors.empty()) {
    return replies_.send_error(frame.request, Error{ErrorCode::kInvalid, "no file came along"});
  }
  auto model = open_model(std::move(*message), std::move(frame.descriptors));
  if (!model) return replies_.send_error(frame.request, model.error());
  model_ = std::move(*model);
  cpu_.configure(model_->options);
  inference_ = std::make_unique<InferenceThread>(
      *model_, LoadedModel::Around{replies_, abort_, gauges_, cpu_});
  templates_ = std::make_unique<TemplateCache>(*model_->vocabulary);
  tokenizer_ = std::thread{[this] { tokenize_requests(); }};
  wire::ReadyMessage ready = ready_message(*model_);
  ready.stages.push_back({StageKind::kSpawn, start, Clock::real().now(), {}});
  replies_.send(FrameType::kReady, frame.request, ready);
}

void Worker::load(Frame frame) {
  auto message = wire::decode_load(frame.payload);
  if (!message) return replies_.send_error(frame.request, message.error());
  std::optional<Fd> stored;
  if (message->stored && !frame.descriptors.empty()) {
    stored = std::move(frame.descriptors.front());
  }
  inference_->load(frame.request, std::move(*message), std::move(stored));
}

void Worker::store(Frame frame) {
  auto message = wire::decode_store(frame.payload);
  if (message && !frame.descriptors.empty()) {
    return inference_->store(frame.request, std::move(message->content),
                             std::move(frame.descriptors.front()));
  }
  wire::StoredMessage refused;
  refused.error = message ? "no file came along" : message.error().message();
  replies_.send(FrameType::kStored, frame.request, refused);
}

void Worker::accept(const Frame& frame, RequestKind kind) {
  std::erase_if(requests_, [](const auto& entry) { return entry.second.expired(); });
  auto request = std::make_shared<Request>(frame.request, kind, Clock::real().now(), gauges_);
  request->payload = frame.payload;
  requests_[frame.request] = request;
  inference_->hurry();
  to_tokenize_.push(std::move(request));
}

void Worker::cancel(std::uint64_t id) {
  if (id == 0) return inference_->cancel_load();
  const auto found = requests_.find(id);
  if (found == requests_.end()) return;
  if (const RequestPtr request = found->second.lock()) {
    request->cancelled = true;
    inference_->wake();
  }
}

// A request that is gone has its slots back at once.
void Worker::refuse_plan(std::uint64_t request) {
  replies_.send(FrameType::kBlocks, request, wire::BlocksMessage{});
}

void Worker::plan(Frame frame) {
  const std::uint64_t id = frame.request;
  const auto message = wire::decode_prefix_plan(frame.payload);
  const auto found = requests_.find(id);
  const RequestPtr request = found != requests_.end() ? found->second.lock() : nullptr;
  std::shared_ptr<PrefixWork>& work = plans_[id];
  if (!work) work = std::make_shared<PrefixWork>();
  work->arena = arena_;
  if (request) add_plan(*work, message, std::move(frame.descriptors), *request);
  if (message && message->more) return;
  std::shared_ptr<PrefixWork> whole = plans_.extract(id).mapped();
  // A plan that makes no sense is none: the request is computed as if nothing were stored.
  if (!request || whole->broken) refuse_plan(id);
  if (whole->broken) whole = std::make_shared<PrefixWork>();
  if (request) inference_->plan(request, std::move(whole));
}

void Worker::add_plan(PrefixWork& work, const Result<wire::PrefixPlanMessage>& message,
                      std::vector<Fd> files, const Request& request) {
  if (work.broken) return;
  Result<> added =
      message ? work.add(*message, std::move(files), request) : Result<>{Failed{message.error()}};
  if (!added) log::warn("prefix.bad_plan", {{"reason", added.error().message()}});
  work.broken = !added.has_value();
  if (message && message->difference) {
    work.difference = explain(*message->difference, request, *model_->vocabulary);
  }
}

void Worker::tokenize_requests() {
  while (auto request = to_tokenize_.pop()) tokenize(*request);
}

void Worker::tokenize(const RequestPtr& request) {
  auto message = prepare(model_->language(*templates_), *request);
  if (!message) return replies_.send_error(request->id, message.error());
  request->tokenized = Clock::real().now();
  message->stages.push_back({StageKind::kTokenize, request->received, request->tokenized, {}});
  replies_.send(FrameType::kTokenized, request->id, *message);
  if (!request->count_only) return inference_->submit(request);
  wire::DoneMessage done;
  done.reason = "counted";
  done.prompt_tokens = static_cast<int>(request->prompt.size());
  replies_.send(FrameType::kDone, request->id, done);
}

}  // namespace hearth::worker
