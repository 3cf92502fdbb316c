// SPDX-License-Identifier: Apache-2.0
#include "layers/compiled/compiled_layer.h"

namespace hearth {

LayerState CompiledLayer::observe(const Subject& subject) const {
  LayerState state;
  state.layer = LayerKind::kCompiled;
  state.level = "none";
  const std::optional<WorkerState> worker = workers_.state(subject);
  if (!worker || worker->level != WorkerLevel::kResident) return state;
  state.bytes = state.total = worker->memory.repacked;
  if (state.bytes == Bytes{}) {
    state.detail = "this model's weights are used as they are in the file";
    return state;
  }
  state.level = "live";
  state.detail = "repacked weights, rebuilt at every load";
  return state;
}

Estimate CompiledLayer::cost_to_warm(const Subject&) const { return {}; }

Task<Result<LayerState>> CompiledLayer::warm(Subject subject, Target, Progress&) {
  LayerState state = observe(subject);
  if (state.level == "live") co_return state;
  co_return fail(ErrorCode::kUnsupported,
                 "repacked weights are built with the load; warm the weights instead");
}

Task<Result<Bytes>> CompiledLayer::cool(Subject subject, Target) {
  if (observe(subject).level == "none") co_return Bytes{};
  co_return fail(ErrorCode::kUnsupported,
                 "repacked weights go with the weights; cool the weights instead");
}

}  // namespace hearth
