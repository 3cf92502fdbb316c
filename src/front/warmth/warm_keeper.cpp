// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/warm_keeper.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "front/warmth/warm_model.h"

namespace hearth::front {
namespace {

// What `decision` keeps is not all there.
bool lacks(Rung stands, const RungDecision& decision) {
  const Rung rung = decision.rung;
  return (keeps_weights(rung) && !keeps_weights(stands)) ||
         (keeps_pins(rung) && !keeps_pins(stands)) ||
         (rung != Rung::kNone && stands == Rung::kNone);
}

// The probe did not get as far as a request would have.
bool not_sent(ErrorCode code) {
  return code == ErrorCode::kCancelled || code == ErrorCode::kBusy || code == ErrorCode::kNoSpace ||
         code == ErrorCode::kConflict;
}

}  // namespace

void WarmKeeper::Pause::extend(Duration now) {
  length_ = length_ == Duration{} ? kRetry : std::min<Duration>(2 * length_, kLongestRetry);
  until_ = now + length_;
}

WarmKeeper::WarmKeeper(World world)
    : world_{std::move(world)}, time_{this_boot()}, woken_{world_.loop}, gate_{world_.loop} {}

WarmKeeper::~WarmKeeper() = default;

void WarmKeeper::set(Terms terms) {
  for (auto& [artifact, model] : models_) {
    if (!terms.contains(artifact)) others_[artifact] = model->notes();
  }
  std::erase_if(models_, [&terms](const auto& model) { return !terms.contains(model.first); });
  for (const auto& [artifact, wish] : terms) {
    if (Model* known = find(artifact)) {
      known->claim.set_terms(wish);
      continue;
    }
    auto kept = others_.extract(artifact);
    WarmNotes notes = kept.empty() ? WarmNotes{} : std::move(kept.mapped());
    // Nobody knows when it was used before, so its first idle period begins now.
    if (!notes.claim.touched) notes.claim.touched = now();
    models_.emplace(artifact, std::make_unique<Model>(wish, std::move(notes)));
  }
  ++version_;
  look_again();
}

void WarmKeeper::start() {
  running_ = true;
  world_.loop.spawn(run());
}

Task<void> WarmKeeper::stop() {
  running_ = false;
  woken_.notify_all();
  co_await gate_.close();
}

Task<void> WarmKeeper::run() {
  const std::optional<Gate::Pass> pass = gate_.enter();
  while (pass && running_) {
    std::vector<std::string> artifacts;
    for (const auto& [artifact, model] : models_) artifacts.push_back(artifact);
    for (const std::string& artifact : artifacts) {
      if (running_) co_await tend(artifact);
    }
    if (!running_) break;
    const TimePoint next = world_.loop.now() + kLook;
    co_await woken_.wait_until(next);
  }
}

Task<void> WarmKeeper::tend(std::string artifact) {
  Model* model = find(artifact);
  const std::optional<WarmView> view = world_.view(artifact);
  if (model == nullptr || !view) co_return;
  const Duration at = now();
  look_at(*model, *view, at);
  const RungDecision decision = *model->decision;
  const bool wrong = lacks(view->stands, decision) || model->applied != decision.rung;
  if (!wrong) model->before_move.reset();
  if (wrong && !view->busy && model->before_move.over(at)) {
    co_await move(artifact, decision);
    co_return;  // what the view said is no longer so
  }
  const bool may_probe = view->may_probe && !view->busy && view->harmed.empty();
  if (may_probe && model->claim.wants_probe(at) && model->before_probe.over(at)) {
    co_await ask(artifact);
  }
}

void WarmKeeper::look_at(Model& model, const WarmView& view, Duration now) {
  const bool held = model.decision && model.decision->holds > Bytes{};
  double rise = 0;
  if (view.psi_avg300) {
    const auto how = held ? PsiBase::Held::kSomething : PsiBase::Held::kNothing;
    rise = model.psi.rise(*view.psi_avg300, how, now);
  }
  const bool harms = held && !view.harmed.empty();
  model.claim.observe(held ? rise : 0,
                      harms ? WarmClaim::Others::kHarmed : WarmClaim::Others::kWell);
  const RungSigns signs{view.harmed, view.room, rise};
  RungDecision decision = model.choice.choose(model.claim.terms(), view.offers, signs, now);
  const bool changed = !model.decision || model.decision->rung != decision.rung ||
                       model.decision->given_up != decision.given_up || model.stands != view.stands;
  model.decision = std::move(decision);
  model.stands = view.stands;
  model.as_it_is = view.as_it_is;
  if (changed) world_.on_change();
}

Task<void> WarmKeeper::move(std::string artifact, RungDecision decision) {
  const Rung rung = decision.rung;
  const Result<> done = co_await world_.apply(artifact, std::move(decision));
  Model* model = find(artifact);
  if (model == nullptr) co_return;
  if (done) {
    model->applied = rung;
  } else {
    log::info("warmth.not_moved",
              {{"model", artifact}, {"rung", name_of(rung)}, {"reason", done.error().message()}});
  }
  // Also after success: what was done and does not show is not done over and over.
  model->before_move.extend(now());
  world_.on_change();
}

Task<void> WarmKeeper::ask(std::string artifact) {
  const TimePoint begun = world_.loop.now();
  const Result<Duration> answered = co_await world_.probe(artifact);
  Model* model = find(artifact);
  if (model == nullptr) co_return;
  const Duration at = now();
  const std::int64_t wall_us = world_.moments.wall_us();
  model->probe_error = answered ? std::string{} : answered.error().message();
  if (!answered && not_sent(answered.error().code())) {
    model->before_probe.extend(at);
    co_return;
  }
  model->before_probe.reset();
  FirstToken token;
  token.time = answered ? *answered : world_.loop.now() - begun;
  const bool ended = answered ? model->claim.answered(token, WarmKind::kProbe, at, wall_us)
                              : model->claim.gave_up(token, WarmKind::kProbe, at, wall_us);
  ++version_;
  if (ended) note_end(*model, at);
}

void WarmKeeper::note_end(Model& model, Duration now) {
  const std::optional<IdlePeriod> last = model.claim.last();
  const bool believed = model.decision &&
                        model.decision->promise == RungDecision::Promise::kMeets &&
                        !lacks(model.stands, *model.decision);
  if (believed && last && !last->squeezed() && !last->met(model.claim.terms())) {
    model.choice.missed(model.decision->rung, now);
  }
  world_.on_change();
}

void WarmKeeper::answered(const std::string& artifact, const FirstToken& token) {
  Model* model = find(artifact);
  if (model == nullptr) return;
  const std::int64_t wall_us = world_.moments.wall_us();
  const bool ended = model->claim.answered(token, WarmKind::kRequest, now(), wall_us);
  ++version_;
  if (ended) note_end(*model, now());
}

void WarmKeeper::gave_up(const std::string& artifact, const FirstToken& so_far) {
  Model* model = find(artifact);
  if (model == nullptr) return;
  const std::int64_t wall_us = world_.moments.wall_us();
  const bool ended = model->claim.gave_up(so_far, WarmKind::kRequest, now(), wall_us);
  ++version_;
  if (ended) note_end(*model, now());
}

void WarmKeeper::left(const std::string& artifact) {
  Model* model = find(artifact);
  if (model == nullptr) return;
  model->claim.left(now());
  ++version_;
}

void WarmKeeper::gave_way(const std::string& artifact, const std::string& why) {
  Model* model = find(artifact);
  if (model == nullptr) return;
  model->choice.gave_way(why, now());
  look_again();
}

void WarmKeeper::rename(const std::string& from, const std::string& to) {
  if (from == to) return;
  const auto found = models_.find(from);
  if (found == models_.end()) return;
  WarmNotes notes;
  notes.claim.touched = found->second->claim.notes().touched;
  models_[to] = std::make_unique<Model>(found->second->claim.terms(), std::move(notes));
  models_.erase(found);
  others_.erase(to);
  ++version_;
}

void WarmKeeper::forget(const std::string& artifact) {
  version_ += models_.erase(artifact) + others_.erase(artifact);
}

FloorReason WarmKeeper::floor_reason(const std::string& artifact, HoldingKind kind) const {
  const Model* model = find(artifact);
  if (model == nullptr || !model->decision) return FloorReason::kNone;
  return model->decision->floor_reason(kind);
}

std::optional<RungDecision> WarmKeeper::decision(const std::string& artifact) const {
  const Model* model = find(artifact);
  return model == nullptr ? std::nullopt : model->decision;
}

std::optional<WarmVerdict> WarmKeeper::verdict(const std::string& artifact) const {
  const Model* model = find(artifact);
  if (model == nullptr) return std::nullopt;
  return model->claim.verdict();
}

WarmKeeper::Model* WarmKeeper::find(const std::string& artifact) {
  const auto found = models_.find(artifact);
  return found == models_.end() ? nullptr : found->second.get();
}

const WarmKeeper::Model* WarmKeeper::find(const std::string& artifact) const {
  const auto found = models_.find(artifact);
  return found == models_.end() ? nullptr : found->second.get();
}

}  // namespace hearth::front
