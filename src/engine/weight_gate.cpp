// SPDX-License-Identifier: Apache-2.0
#include "engine/weight_gate.h"

#include <ggml.h>
#include <llama.h>

#include <algorithm>
#include <chrono>

namespace hearth::engine {
namespace {

// How often a wait looks at the abort flags, which cannot wake it.
constexpr std::chrono::milliseconds kLook{20};
// Weights of about two layers.
constexpr std::size_t kLookAhead = 24;

const ggml_tensor* owner_of(const ggml_tensor* tensor) {
  while (tensor != nullptr && tensor->view_src != nullptr) tensor = tensor->view_src;
  return tensor;
}

}  // namespace

void WeightGate::watch(const ggml_tensor* tensor, std::size_t index, Rows rows) {
  watched_[tensor] = {index, rows};
}

void WeightGate::install(llama_context_params& params, const AbortFlags& abort) {
  if (is_open()) return;
  abort_ = &abort;
  params.cb_eval = on_node;
  params.cb_eval_user_data = this;
}

void WeightGate::open(std::size_t index) {
  {
    std::lock_guard lock{mutex_};
    ready_[index].store(true, std::memory_order_release);
  }
  changed_.notify_all();
}

void WeightGate::open_all() {
  {
    std::lock_guard lock{mutex_};
    for (auto& ready : ready_) ready.store(true, std::memory_order_release);
    all_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
}

bool WeightGate::on_node(ggml_tensor* node, bool ask, void* gate) {
  if (!ask) return true;  // go on
  return static_cast<WeightGate*>(gate)->pass(node);
}

// Whether the engine is to compute up to here before it asks about the next operation.
bool WeightGate::pass(const ggml_tensor* node) {
  if (is_open()) return false;
  bool may_wait_soon = false;
  for (const ggml_tensor* source : node->src) {
    if (source == nullptr) continue;
    const Watched* weight = waits_for(node, source);
    if (weight == nullptr) continue;
    if (!ready_[weight->index].load(std::memory_order_acquire)) wait_for(weight->index);
    may_wait_soon = may_wait_soon || !is_clear_after(weight->index);
  }
  return may_wait_soon;
}

// Whether the weights that come next in the order of first touch are there too: then what comes
// before this operation need not be computed by itself first.
bool WeightGate::is_clear_after(std::size_t index) const {
  const std::size_t end = std::min(ready_.size(), index + 1 + kLookAhead);
  for (std::size_t i = index + 1; i < end; ++i) {
    if (!ready_[i].load(std::memory_order_acquire)) return false;
  }
  return true;
}

const WeightGate::Watched* WeightGate::waits_for(const ggml_tensor* node,
                                                 const ggml_tensor* source) const {
  const auto found = watched_.find(owner_of(source));
  if (found == watched_.end()) return nullptr;
  const bool by_page = node->op == GGML_OP_GET_ROWS && found->second.rows == Rows::kByPage;
  return by_page ? nullptr : &found->second;
}

void WeightGate::wait_for(std::size_t index) {
  std::unique_lock lock{mutex_};
  while (!ready_[index].load(std::memory_order_acquire) && !abort_->set()) {
    changed_.wait_for(lock, kLook);
  }
  if (!ready_[index].load(std::memory_order_acquire)) broken_ = true;
}

}  // namespace hearth::engine
