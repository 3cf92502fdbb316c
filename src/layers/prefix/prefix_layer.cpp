// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/prefix_layer.h"

#include <string_view>
#include <utility>

namespace hearth {
namespace {

// "192 tokens live, 320 in RAM"
void add_tokens(std::string& detail, std::int64_t tokens, std::string_view where) {
  if (tokens == 0) return;
  const bool first = detail.empty();
  detail += (first ? "" : ", ") + std::to_string(tokens) + (first ? " tokens " : " ");
  detail += where;
}

}  // namespace

LayerState PrefixLayer::observe(const Subject& subject) const {
  LayerState state;
  state.layer = LayerKind::kPrefix;
  state.level = "none";
  const StoredPrefixes::Amount kept = stored_.amount(subject.artifact);
  const std::optional<WorkerState> worker = workers_.state(subject);
  const std::int64_t live = worker ? worker->live_tokens : 0;
  if (live > 0) {
    state.level = "live";
    state.bytes = worker->memory.kv;
  } else if (kept.memory_tokens > 0) {
    state.level = "in RAM";
    state.bytes = kept.memory;
  } else if (kept.disk_tokens > 0) {
    state.level = "on disk";
    state.bytes = kept.disk;
  }
  state.total = state.bytes;
  add_tokens(state.detail, live, "live");
  add_tokens(state.detail, kept.memory_tokens, "in RAM");
  add_tokens(state.detail, kept.disk_tokens, "on disk");
  return state;
}

Estimate PrefixLayer::cost_to_warm(const Subject&) const { return {}; }

Task<Result<LayerState>> PrefixLayer::warm(Subject subject, Target, Progress&) {
  LayerState state = observe(subject);
  if (state.level != "none") co_return state;
  co_return fail(ErrorCode::kUnsupported,
                 "nothing is kept to restore the prefix from; the next prompt fills it");
}

Task<Result<Bytes>> PrefixLayer::cool(Subject subject, Target target) {
  const bool spills = target.level == "memory" || target.level == "on disk";
  if (spills) co_return co_await stored_.spill(std::move(subject.artifact));
  co_return co_await stored_.drop(std::move(subject.artifact));
}

}  // namespace hearth
