// SPDX-License-Identifier: Apache-2.0
//
// FrontService's pins. For each there is a task that makes it true again whenever it is not.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"

namespace hearth::front {
namespace {

// Between attempts, doubled each time; what held for kSteady and was lost begins anew.
constexpr Duration kFirstPause = std::chrono::milliseconds{100};
constexpr Duration kLongestPause = std::chrono::minutes{5};
constexpr Duration kSteady = std::chrono::minutes{1};

}  // namespace

const Pin* FrontService::pin_of(const std::string& artifact, std::string_view layer) const {
  for (const NamedModel& named : named_) {
    if (named.artifact.id != artifact) continue;
    const auto pin = std::find_if(named.pins.begin(), named.pins.end(),
                                  [&](const Pin& one) { return one.layer == layer; });
    return pin == named.pins.end() ? nullptr : &*pin;
  }
  return nullptr;
}

Result<> FrontService::check_not_pinned(const ModelStatus& model, std::string_view layer) const {
  if (pin_of(model.artifact, layer) == nullptr) return {};
  return fail(ErrorCode::kConflict, "the " + std::string{layer} + " of \"" + model.name +
                                        "\" are pinned; `hearth unpin " + model.name +
                                        "` lets them go");
}

// ---- making them true ----

// Brings the models and the holding tasks to what the catalogue says.
void FrontService::sync_pins() {
  for (const auto& [artifact, model] : models_) {
    const bool pinned = pin_of(artifact, "weights") != nullptr;
    model->stay().set_pin(pinned ? Stay::Pin::kPinned : Stay::Pin::kLoose);
  }
  for (const NamedModel& named : named_) {
    for (const Pin& pin : named.pins) {
      if (stopping_ || !held_.insert({named.artifact.id, pin.layer}).second) continue;
      world_.loop.spawn(hold(named.artifact.id, pin.layer));
    }
  }
  pins_changed_.notify_all();
}

bool FrontService::holds_pin(const std::string& artifact, const std::string& layer) const {
  if (layer == "weights") {
    const ModelHost* host = host_of(artifact);
    return host != nullptr && host->level() == WeightsLevel::kResident;
  }
  const Pin* pin = pin_of(artifact, layer);
  const std::optional<LoadSet> load_set = load_set_of(artifact);
  return pin != nullptr && load_set && keeper_.held(artifact) > Bytes{} &&
         keeper_.held(artifact) == size_of(first_of(*load_set, pin->bytes));
}

Task<void> FrontService::hold(std::string artifact, std::string layer) {
  const auto pass = tasks_.enter();
  Duration pause = kFirstPause;
  while (pass && !stopping_ && pin_of(artifact, layer) != nullptr) {
    const TimePoint begun = world_.loop.now();
    co_await hold_until_lost(artifact, layer);
    if (world_.loop.now() - begun > kSteady) pause = kFirstPause;
    const TimePoint again = world_.loop.now() + pause;
    pause = std::min(2 * pause, kLongestPause);
    while (!stopping_ && pin_of(artifact, layer) != nullptr && world_.loop.now() < again) {
      (void)co_await pins_changed_.wait_until(again);
    }
  }
  if (layer == "pages") keeper_.forget(artifact);
  held_.erase({artifact, layer});
}

// Returns at once when it cannot be held.
Task<void> FrontService::hold_until_lost(std::string artifact, std::string layer) {
  if (!holds_pin(artifact, layer)) {
    const Result<> held = co_await hold_once(artifact, layer);
    if (!held && !stopping_) {
      log::warn("pin.not_held", {{"artifact", artifact.substr(0, 12)},
                                 {"layer", layer},
                                 {"reason", held.error().message()}});
    }
  }
  while (!stopping_ && pin_of(artifact, layer) != nullptr && holds_pin(artifact, layer)) {
    co_await pins_changed_.wait();
  }
}

Task<Result<>> FrontService::hold_once(std::string artifact, std::string layer) {
  if (layer == "pages") {
    std::optional<LoadSet> load_set = load_set_of(artifact);
    if (!load_set) co_return fail(ErrorCode::kNotFound, "the model's files are not all there");
    const Bytes bytes = pin_of(artifact, layer)->bytes;
    co_return co_await keeper_.keep(artifact, std::move(*load_set), bytes);
  }
  const NamedModel* named = holder_of(artifact);
  if (named == nullptr) co_return fail(ErrorCode::kNotFound, "the model was removed just now");
  std::string name = named->name;
  Result<Model*> found = co_await resolve(std::move(name));
  if (!found) co_return Failed{std::move(found).error()};
  Model& model = **found;
  model.request_arrived(Use::kTokenizer);
  Result<> loaded = co_await model.host().ensure_resident(&stopping_);
  model.request_left(Use::kTokenizer, Stay::Left::kServed);
  co_return loaded;
}

// ---- the verbs ----

Task<Result<>> FrontService::check_pin(std::string name, std::string layer, Bytes bytes) {
  const bool weights = layer == "weights";
  if (!weights && layer != "pages") {
    co_return Failed{
        Error{ErrorCode::kInvalid, "only weights and pages can be pinned"}.at("layer")};
  }
  if (weights && bytes > Bytes{}) {
    co_return Failed{
        Error{ErrorCode::kInvalid, "weights are pinned whole; only pages in part"}.at("bytes")};
  }
  if (weights ? !config_.switches.weights : !config_.switches.pages) {
    co_return fail(ErrorCode::kUnsupported, "the layer is switched off by layers_off");
  }
  Result<Model*> found = co_await resolve(std::move(name));
  if (!found) co_return Failed{std::move(found).error()};
  if (weights) co_return Result<>{};
  // Held before it is written down: what cannot be held is no pin.
  const std::string artifact = (*found)->named().artifact.id;
  std::optional<LoadSet> load_set = load_set_of(artifact);
  if (!load_set) co_return fail(ErrorCode::kNotFound, "the model's files are not all there");
  if (keeper_.held(artifact) == size_of(first_of(*load_set, bytes))) co_return Result<>{};
  Result<> kept = co_await keeper_.keep(artifact, std::move(*load_set), bytes);
  pins_changed_.notify_all();  // where it failed, an earlier pin is to be held again
  co_return kept;
}

Task<Result<ModelStatus>> FrontService::pin(std::string name, std::string layer, Bytes bytes) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  Result<> possible = co_await check_pin(name, layer, bytes);
  if (!possible) co_return Failed{std::move(possible).error()};
  const Result<ModelStatus> known = model(name);
  if (!known) co_return known;
  auto job = [this, id = known->artifact, pin = Pin{layer, bytes}] {
    return catalogue_.pin(id, pin);
  };
  Result<> written = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!written) co_return Failed{std::move(written).error()};
  log::info("model.pinned", {{"model", known->name}, {"layer", layer}});
  Result<> refreshed = co_await refresh_catalogue();
  if (!refreshed) co_return Failed{std::move(refreshed).error()};
  if (layer == "pages") co_await refresh_pages(known->artifact);  // locking has read them
  co_return model(name);
}

Task<Result<ModelStatus>> FrontService::unpin(std::string name, std::string layer) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  if (!layer.empty() && layer != "weights" && layer != "pages") {
    co_return Failed{
        Error{ErrorCode::kInvalid, "only weights and pages can be pinned"}.at("layer")};
  }
  const Result<ModelStatus> known = model(name);
  if (!known) co_return known;
  auto job = [this, id = known->artifact, layer]() -> Result<> {
    for (const char* one : {"weights", "pages"}) {
      if (!layer.empty() && layer != one) continue;
      if (auto done = catalogue_.unpin(id, one); !done) return done;
    }
    return {};
  };
  Result<> written = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!written) co_return Failed{std::move(written).error()};
  log::info("model.unpinned", {{"model", known->name}, {"layer", layer.empty() ? "all" : layer}});
  Result<> refreshed = co_await refresh_catalogue();
  if (!refreshed) co_return Failed{std::move(refreshed).error()};
  co_return model(name);
}

}  // namespace hearth::front
