// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/abort_flags.h"
#include "engine/cpu_threads.h"
#include "engine/memory_use.h"
#include "engine/model.h"
#include "engine/tokens.h"

struct llama_context;

namespace hearth::engine {

class WeightGate;

enum class Logits { kNo, kYes };

enum class Decoded {
  kDone,
  kNoCells,  // nothing was evaluated; make room and try again
  kAborted,  // what was evaluated before it stays: ask evaluated()
  kFailed,   // likewise
};

// The KV cells of all sequences and the batch that is being put together. Belongs to one thread;
// model, threads and flags must outlive it.
class Context {
 public:
  struct Options {
    int cells = 4096;   // for all sequences together
    int sequences = 5;  // ids 0 .. sequences-1; blocks pass through the last one
  };

  // Errors: kNoSpace, with the engine's own words.
  static Result<std::unique_ptr<Context>> create(const Model& model, const Options& options,
                                                 const CpuThreads& threads,
                                                 const AbortFlags& abort);
  ~Context();

  int cells() const { return cells_; }
  int max_batch() const { return max_batch_; }
  // What the engine evaluates at once: a larger batch is as many computations one after the other.
  int micro_batch() const { return micro_batch_; }

  void clear();
  // Returns the entry's index, by which its logits are found afterwards. At most max_batch()
  // entries.
  int add(Token token, int position, int sequence, Logits logits);
  int size() const;

  // Evaluates the batch, and waits for the result.
  Decoded decode();

  // Positions of `sequence` that are in cells: 0 .. evaluated-1.
  int evaluated(int sequence) const;

  // The first position whose state is complete: 0, or more where a window has moved past what was
  // before it.
  int window_from(int sequence) const;
  // 0: no layer has one.
  int sliding_window() const { return sliding_window_; }

  // Forgets all from position `count` on. Returns how many are left: `count`, or 0 where the model
  // cannot go back that far (sliding window, recurrent), and then the sequence is empty.
  int keep(int sequence, int count);

  // Copies a sequence's state to another context of the same model.
  std::string save(int sequence);
  // Errors: kNoSpace; the sequence is then empty.
  Result<> restore(int sequence, const std::string& state);

  // Gives `to`, which is empty, the first `count` positions of `from`: the same cells, which stay
  // until both have let go of them; of layers with a window, a copy of what later tokens look at.
  // That must be there: window_from(from) <= count - sliding_window(), or 0.
  void share(int from, int to, int count);

  // The state of some positions of a sequence, in the engine's own form: of the layers that look at
  // everything before (`base`), and of those which look at a window only (`window`, empty for most
  // models). It can be put into another context of the same model, also in another process. Exact
  // for what Model::not_restorable() does not refuse.
  struct BlockState {
    std::string base;
    std::string window;
  };
  enum class Window {
    kWith,
    kLeftOut,  // what is left when it has moved on: good for blocks further back than a window
  };
  // Positions first .. first + count - 1. Errors: kConflict (a window has moved past some of them,
  // or they were never evaluated); kInternal.
  Result<BlockState> save_block(int sequence, int first, int count, Window window = Window::kWith);
  // Adds such positions to a sequence that holds none of them. Those before them may still be
  // missing, but must be there before anything after them is evaluated. Without `window`, later
  // tokens must not need that: it is for blocks further back than a window, and evaluated() knows
  // of them only once a later block has come with its window. Nothing is copied where `window` lies
  // in memory right behind `base`. Errors: kCorrupt (not a state of this model's and of these
  // positions), kNoSpace (no cells); nothing was added then.
  Result<> load_block(int sequence, int first, int count, std::span<const std::byte> base,
                      std::span<const std::byte> window);

  // Whether state can be put at other positions than it was evaluated at: full attention only, and
  // no scaling of positions that also scales what it turns.
  bool can_shift() const { return can_shift_; }
  // Appends positions first .. first + count - 1 of a block to a sequence that ends at
  // first + shift, as if they had been evaluated there. An approximation: they still know only what
  // was before them where they were evaluated. The engine turns them at the next decode(). Errors:
  // kUnsupported (not can_shift()); else as load_block().
  Result<> load_shifted_block(int sequence, int first, int count, int shift,
                              std::span<const std::byte> base);
  // Such a turn is still to come: that decode() should not be broken off.
  bool shifts() const { return shifts_; }

  MemoryUse memory() const;
  llama_context* handle() const { return context_.get(); }

 private:
  struct Batch;
  struct Free {
    void operator()(llama_context* context) const;
  };
  Context(llama_context* context, const CpuThreads& threads, const Model& model);

  void forget_batch();
  void settle();

  std::unique_ptr<llama_context, Free> context_;
  WeightGate* gate_ = nullptr;  // the model's, while weights may still be on their way
  const CpuThreads& threads_;
  int threads_followed_ = 0;
  std::unique_ptr<Batch> batch_;
  int cells_;
  int max_batch_;
  int micro_batch_;
  int sliding_window_;
  bool can_shift_;
  bool shifts_ = false;
  std::string empty_window_;  // the window's part of an empty sequence's state; empty: it has none
};

}  // namespace hearth::engine
