// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/abort_flags.h"

struct ggml_tensor;
struct llama_context_params;

namespace hearth::engine {

// Makes an evaluation wait, at each operation, for the weights which that operation reads: so a
// prompt is evaluated while later layers are still on disk.
//
// The engine asks before every operation of a graph. An answer of "yes" has it compute what comes
// before by itself first; once everything is there the answer is always "no" and costs nothing that
// could be measured. After watch() it is thread-safe: readers open it, one evaluation waits at it.
class WeightGate {
 public:
  enum class Rows {
    kWait,    // a look-up of some rows waits as well
    kByPage,  // no: each row faults its own page in from the mapped file
  };

  // How many weights there are, all of them missing. Before the first watch().
  void expect(std::size_t weights) { ready_ = std::vector<std::atomic<bool>>(weights); }

  // `index` below the number of weights. Before anything is evaluated.
  void watch(const ggml_tensor* tensor, std::size_t index, Rows rows);

  // Gives a context this gate. `abort` ends a wait early; what is computed then means nothing, and
  // the engine gives it up at the next operation.
  void install(llama_context_params& params, const AbortFlags& abort);

  void open(std::size_t index);
  // Everything is there; from now on nothing is asked.
  void open_all();
  bool is_open() const { return all_.load(std::memory_order_acquire); }

  // Whether a wait has ended early since the last call: then what was computed means nothing. A
  // GPU's graph goes on all the same and reports success.
  bool take_broken() { return broken_.exchange(false); }

 private:
  struct Watched {
    std::size_t index;
    Rows rows;
  };
  static bool on_node(ggml_tensor* node, bool ask, void* gate);
  bool pass(const ggml_tensor* node);
  const Watched* waits_for(const ggml_tensor* node, const ggml_tensor* source) const;
  bool is_clear_after(std::size_t index) const;
  void wait_for(std::size_t index);

  std::unordered_map<const ggml_tensor*, Watched> watched_;
  std::vector<std::atomic<bool>> ready_;
  std::atomic<bool> all_{false};
  std::atomic<bool> broken_{false};
  const AbortFlags* abort_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace hearth::engine
