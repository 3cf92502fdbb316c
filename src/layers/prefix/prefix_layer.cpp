// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/prefix_layer.h"

namespace hearth {

LayerState PrefixLayer::observe(const Subject& subject) const {
  LayerState state;
  state.layer = LayerKind::kPrefix;
  state.level = "none";
  const std::optional<WorkerState> worker = workers_.state(subject);
  if (!worker || worker->live_tokens == 0) return state;
  state.level = "live";
  state.bytes = state.total = worker->memory.kv;
  state.detail = std::to_string(worker->live_tokens) + " tokens";
  return state;
}

Estimate PrefixLayer::cost_to_warm(const Subject&) const { return {}; }

Task<Result<LayerState>> PrefixLayer::warm(Subject subject, Target, Progress&) {
  LayerState state = observe(subject);
  if (state.level == "live") co_return state;
  co_return fail(ErrorCode::kUnsupported,
                 "nothing is kept to restore the prefix from; the next prompt fills it");
}

Task<Result<Bytes>> PrefixLayer::cool(Subject subject, Target) {
  if (observe(subject).level == "none") co_return Bytes{};
  co_return fail(ErrorCode::kUnsupported,
                 "live prefixes cannot be dropped by themselves; cool the weights instead");
}

}  // namespace hearth
