// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/abort_flags.h"
#include "engine/cpu_threads.h"
#include "engine/memory_use.h"
#include "engine/model.h"
#include "engine/tokens.h"
#include "engine/vocabulary.h"

struct llama_context;

namespace hearth::engine {

class WeightGate;

// Turns texts into vectors of length 1, in a context of its own: pooled as the model asks for, or
// by the mean where it does not say (a chat model). Belongs to one thread; all that create() takes
// must outlive it.
class Embedder {
 public:
  // `limit`: the longest input, in tokens.
  // Errors: kUnsupported (a reranker, an encoder-decoder); kNoSpace.
  static Result<std::unique_ptr<Embedder>> create(const Model& model, const Vocabulary& vocabulary,
                                                  int limit, const CpuThreads& threads,
                                                  const AbortFlags& abort);

  int limit() const { return limit_; }
  MemoryUse memory() const { return memory_use_of(context_.get()); }

  // Errors: kTooLong with both counts; kInvalid for an empty input; kCancelled; kInternal.
  Result<std::vector<float>> embed(std::span<const Token> input);

 private:
  struct Free {
    void operator()(llama_context* context) const;
  };
  Embedder(llama_context* context, const CpuThreads& threads, int size, int limit)
      : context_{context}, threads_{threads}, size_{size}, limit_{limit} {}

  std::unique_ptr<llama_context, Free> context_;
  WeightGate* gate_ = nullptr;  // the model's
  const CpuThreads& threads_;
  int threads_followed_ = 0;
  int size_;
  int limit_;
};

// The longest input that an embedder takes: the whole of it must pass in one step.
int embedding_limit(int context_limit);

}  // namespace hearth::engine
