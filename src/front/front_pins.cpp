// SPDX-License-Identifier: Apache-2.0
//
// FrontService's pins: which there are, and how each is made true.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"

namespace hearth::front {

// One of a layer that is switched off is kept for when it is on again, and holds nothing.
bool FrontService::in_force(const Pin& pin) const {
  // Somebody who comes first needs the memory, and the configuration lets pins go for it.
  if (protected_ && protected_->may_release_pins()) return false;
  return pin.layer == "weights" ? config_.switches.weights : config_.switches.pages;
}

const Pin* FrontService::pin_of(const std::string& artifact, std::string_view layer) const {
  for (const NamedModel& named : named_) {
    if (named.artifact.id != artifact) continue;
    const auto pin = std::find_if(named.pins.begin(), named.pins.end(), [&](const Pin& one) {
      return one.layer == layer && in_force(one);
    });
    return pin == named.pins.end() ? nullptr : &*pin;
  }
  return nullptr;
}

Result<> FrontService::check_not_pinned(const std::string& artifact, std::string_view layer) const {
  if (pin_of(artifact, layer) == nullptr) return {};
  const NamedModel* named = holder_of(artifact);
  return fail(ErrorCode::kConflict, "the " + std::string{layer} + " of \"" + named->name +
                                        "\" are pinned; `hearth unpin " + named->name +
                                        "` lets them go");
}

// ---- making them true ----

// Brings the models and the pins' tasks to what the catalogue says.
void FrontService::sync_pins() {
  for (const auto& [artifact, model] : models_) {
    const bool pinned = pin_of(artifact, "weights") != nullptr;
    model->stay().set_pin(pinned ? Stay::Pin::kPinned : Stay::Pin::kLoose);
  }
  std::set<PinKey> all;
  for (const NamedModel& named : named_) {
    for (const Pin& pin : named.pins) {
      if (!stopping_ && in_force(pin)) all.insert({named.artifact.id, pin.layer});
    }
  }
  pins_.set(std::move(all));
}

Pins::World FrontService::pins_world() {
  return {world_.loop, [this](const PinKey& pin) { return holds(pin); },
          [this](PinKey pin) { return hold(std::move(pin)); },
          [this](const PinKey& pin) {
            if (pin.layer == "pages") keeper_.forget(pin.artifact);
          }};
}

bool FrontService::holds(const PinKey& key) const {
  if (key.layer == "weights") {
    const ModelHost* host = host_of(key.artifact);
    return host != nullptr && host->level() == WeightsLevel::kResident;
  }
  const Pin* pin = pin_of(key.artifact, key.layer);
  const std::optional<LoadSet> load_set = load_set_of(key.artifact);
  return pin != nullptr && load_set && keeper_.holds(key.artifact, *load_set, pin->bytes);
}

Task<Result<>> FrontService::hold(PinKey key) {
  if (key.layer == "pages") {
    std::optional<LoadSet> load_set = load_set_of(key.artifact);
    const Pin* pin = pin_of(key.artifact, key.layer);
    if (!load_set || pin == nullptr) {
      co_return fail(ErrorCode::kNotFound, "the model's files are not all there");
    }
    const Bytes bytes = pin->bytes;
    co_return co_await keeper_.keep(key.artifact, std::move(*load_set), bytes);
  }
  const NamedModel* named = holder_of(key.artifact);
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

// Whether it can be; pages are locked by then. What comes back is the artifact.
Task<Result<std::string>> FrontService::try_pin(std::string name, Pin pin) {
  const bool weights = pin.layer == "weights";
  if (!weights && pin.layer != "pages") {
    co_return Failed{
        Error{ErrorCode::kInvalid, "only weights and pages can be pinned"}.at("layer")};
  }
  if (weights && pin.bytes > Bytes{}) {
    co_return Failed{
        Error{ErrorCode::kInvalid, "weights are pinned whole; only pages in part"}.at("bytes")};
  }
  if (!in_force(pin)) {
    co_return fail(ErrorCode::kUnsupported, "the layer is switched off by layers_off");
  }
  Result<Model*> found = co_await resolve(std::move(name));
  if (!found) co_return Failed{std::move(found).error()};
  const std::string artifact = (*found)->named().artifact.id;
  if (weights) co_return artifact;
  // Held before it is written down: what cannot be held is no pin.
  std::optional<LoadSet> load_set = load_set_of(artifact);
  if (!load_set) co_return fail(ErrorCode::kNotFound, "the model's files are not all there");
  if (keeper_.holds(artifact, *load_set, pin.bytes)) co_return artifact;
  Result<> kept = co_await keeper_.keep(artifact, std::move(*load_set), pin.bytes);
  pins_.look_again();  // where it failed, an earlier pin is to be held again
  if (!kept) co_return Failed{std::move(kept).error()};
  co_return artifact;
}

Task<Result<>> FrontService::write_pin(std::string artifact, Pin pin) {
  auto job = [this, artifact, pin] { return catalogue_.pin(artifact, pin); };
  Result<> written = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!written) co_return written;
  co_return co_await refresh_catalogue();
}

Task<Result<ModelStatus>> FrontService::pin(std::string name, std::string layer, Bytes bytes) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  const Pin wanted{layer, bytes};
  const Result<std::string> artifact = co_await try_pin(name, wanted);
  if (!artifact) co_return Failed{artifact.error()};
  const Result<> written = co_await write_pin(*artifact, wanted);
  if (!written) {
    // The model may have gone while its pages were locked. An earlier pin is held again.
    if (layer == "pages" && pin_of(*artifact, layer) == nullptr) keeper_.forget(*artifact);
    pins_.look_again();
    co_return Failed{written.error()};
  }
  log::info("model.pinned", {{"model", name}, {"layer", layer}});
  if (layer == "pages") co_await refresh_pages(*artifact);  // locking has read them
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
