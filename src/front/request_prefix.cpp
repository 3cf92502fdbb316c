// SPDX-License-Identifier: Apache-2.0
//
// RequestRun and the prompt state that is kept: what of it a request may use, and where its own
// goes.
#include <algorithm>
#include <utility>

#include "front/prefix_miss.h"
#include "front/request_run.h"

namespace hearth::front {
namespace {

using wire::Frame;
using wire::FrameType;

// Of a reply whose length nobody has bounded.
constexpr int kUsualReply = 512;

int most_generated(const wire::GenerateMessage& message, const PrefixRoom::Use& use, int prompt) {
  const int asked = message.max_tokens >= 0 ? message.max_tokens : kUsualReply;
  const int limit = use.ready.context_limit;
  return limit > 0 ? std::clamp(limit - prompt, 0, asked) : asked;
}

}  // namespace

void RequestRun::normalise(Model& model) {
  auto* generate = std::get_if<wire::GenerateMessage>(&input_.work);
  if (generate == nullptr || model.prefixes() == nullptr) return;
  normalised_ = model.prefixes()->normalise(*generate);
}

// Before each hand-over: another worker may be another domain.
void RequestRun::ask_for_prefix(Model& model) {
  auto* generate = std::get_if<wire::GenerateMessage>(&input_.work);
  if (generate == nullptr) return;
  prefix_use_.reset();
  generate->domain.clear();
  generate->plan_prefix = false;
  PrefixPlans* plans = model.prefixes();
  const bool keeps = plans != nullptr && generate->cache_prompt && !only_counts();
  if (!keeps || !model.host().ready()) return;
  prefix_use_ = model.prefix_use(plans->group_of(input_.context.key));
  prefix_worker_ = model.host().spawns();
  generate->domain = plans->domain(*prefix_use_);
  generate->plan_prefix = true;
}

// The worker waits for the answer, whatever becomes of the request; a client that leaves, or a
// worker that dies, is heard of meanwhile.
void RequestRun::begin_plan(Model& model) {
  if (!prefix_use_ || planning_ || planned_ || !is_with(model.host())) return;
  const auto& generate = std::get<wire::GenerateMessage>(input_.work);
  PrefixRoom::Ask ask;
  ask.request = input_.number;
  ask.use = *prefix_use_;
  ask.tokens = tokens_;
  ask.max_generated = most_generated(generate, ask.use, static_cast<int>(tokens_.size()));
  ask.domain = generate.domain;
  ask.module = input_.context.module;
  if (input_.context.approximate) ask.texts = input_.context.texts;
  planning_ = planned_ = true;
  loop_.spawn(answer_with_plan(model, std::move(ask)));
}

Task<void> RequestRun::answer_with_plan(Model& model, PrefixRoom::Ask ask) {
  PrefixPlans& plans = *model.prefixes();
  std::vector<Frame> frames = co_await plans.plan(std::move(ask));
  found_ = plans.found(input_.number);
  account_.facts.tokens_seen_before = found_.seen;
  account_.facts.behind_volatile_head = plans.behind_volatile_head(input_.number);
  if (frames.empty()) {
    const wire::PrefixPlanMessage nothing;
    frames.push_back(
        wire::make_frame(FrameType::kPrefixPlan, input_.number, wire::encode(nothing)));
  }
  for (Frame& frame : frames) {
    if (is_with(model.host())) model.host().send(std::move(frame));
  }
  planning_ = false;
  plan_ended_.notify_all();
}

// Not with a successor of the worker that it was handed to.
bool RequestRun::is_with(const ModelHost& host) const {
  return host.has_worker() && host.spawns() == prefix_worker_;
}

void RequestRun::note_prefix_started(Model& model, const wire::StartedMessage& message) {
  if (!planned_) return;
  plan_started_ = true;
  model.prefixes()->note_started(input_.number, message);
  const bool exact = prefix_use_->options.exact;
  PrefixUse use =
      prefix_use_of(found_, message, exact ? Exactness::kWholeBatches : Exactness::kAsComputed);
  use.normalised = normalised_;
  account_.set_prefix(std::move(use));
}

// After the last frame that matters to the reply. Slots that nobody writes to any more are given
// back. A request that was cancelled early has its kDone too, and no blocks follow where it has no
// slots.
Task<void> RequestRun::end_plan(Model& model) {
  while (planning_) co_await plan_ended_.wait();
  const bool done = std::exchange(worker_done_, false);
  const bool answered = std::exchange(plan_started_, false) && done;
  if (!std::exchange(planned_, false)) co_return;
  if (answered) {
    model.prefixes()->note_replied(input_.number);
  } else {
    model.prefixes()->close(input_.number);
  }
}

}  // namespace hearth::front
