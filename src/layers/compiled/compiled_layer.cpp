// SPDX-License-Identifier: Apache-2.0
#include "layers/compiled/compiled_layer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/size_text.h"

namespace hearth {
namespace {

bool is_resident(const std::optional<WorkerState>& worker) {
  return worker && worker->level == WorkerLevel::kResident;
}

std::string detail_of(const Compilations::State& kept, std::string_view level) {
  if (!kept.note.empty()) return kept.note;
  if (kept.possible == Bytes{} && kept.drivers == Bytes{}) {
    return "this model's weights are used as they are in the file";
  }
  if (level == "live" && kept.stored > Bytes{}) {
    return size_text(kept.stored) + " of it stored for the next start";
  }
  if (level == "live") return "repacked at this load; not stored";
  return {};
}

}  // namespace

std::string_view code_of(CompiledCause cause) {
  static constexpr std::array<std::string_view, 6> kCodes{"compiled.first",  "compiled.engine",
                                                          "compiled.driver", "compiled.hardware",
                                                          "compiled.model",  "compiled.shape"};
  return kCodes[static_cast<std::size_t>(cause)];
}

LayerState CompiledLayer::observe(const Subject& subject) const {
  const Compilations::State kept = compilations_.state(subject);
  const std::optional<WorkerState> worker = workers_.state(subject);
  const Bytes live = is_resident(worker) ? worker->memory.repacked : Bytes{};
  LayerState state;
  state.layer = LayerKind::kCompiled;
  state.level = "none";
  state.bytes = kept.stored + kept.drivers;
  if (state.bytes > Bytes{}) state.level = "stored";
  if (live > Bytes{}) {
    state.level = "live";
    state.bytes = std::max(state.bytes, live);
  }
  state.total = std::max(state.bytes, kept.possible.value_or(Bytes{}));
  state.fraction = state.level == "none" ? 0 : 1;
  state.detail = detail_of(kept, state.level);
  return state;
}

Estimate CompiledLayer::cost_to_warm(const Subject& subject) const {
  const Compilations::State kept = compilations_.state(subject);
  if (kept.stored > Bytes{} || !kept.possible) return {};
  return {kept.time.value_or(Duration{}), *kept.possible, kept.time.has_value()};
}

Task<Result<LayerState>> CompiledLayer::warm(Subject subject, Target, Progress& progress) {
  const Subject about = subject;
  const Compilations::State before = compilations_.state(about);
  const bool nothing = before.possible == Bytes{};
  if (before.stored > Bytes{} || nothing) co_return observe(about);
  if (!is_resident(workers_.state(about))) {
    Result<> loaded = co_await workers_.load(std::move(subject), progress);
    if (!loaded) co_return Failed{std::move(loaded).error()};
  }
  if (compilations_.state(about).possible == Bytes{}) co_return observe(about);
  Subject built = about;
  Result<> done = co_await compilations_.build(std::move(built));
  if (!done) co_return Failed{std::move(done).error()};
  co_return observe(about);
}

Task<Result<Bytes>> CompiledLayer::cool(Subject subject, Target) {
  return compilations_.drop(std::move(subject));
}

}  // namespace hearth
