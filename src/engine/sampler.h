// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "engine/constraint.h"
#include "engine/tokens.h"
#include "engine/vocabulary.h"

struct llama_context;
struct common_sampler;

namespace hearth::engine {

struct SamplingOptions {
  std::optional<std::uint32_t> seed;  // absent: random
  double temperature = 0.8;           // 0 or less: always the most probable token
  double top_p = 0.95;
  int top_k = 40;
  double min_p = 0.05;
  double typical_p = 1.0;
  double repeat_penalty = 1.0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  int repeat_last_n = 64;  // -1: the whole context
  std::map<Token, double> logit_bias;
  bool ignore_eos = false;  // end-of-generation tokens are banned
  int min_tokens = 0;       // they are banned for so many tokens
};

// Chooses the tokens of one sequence. Greedy choice without any further wish is a plain search for
// the largest number; everything else is the engine's own chain. The vocabulary must outlive it.
// Not thread-safe.
class Sampler {
 public:
  // Errors: kInvalid when a value is out of range or the constraint's grammar cannot be used.
  static Result<Sampler> create(const Vocabulary& vocabulary, const SamplingOptions& options,
                                const Constraint& constraint);

  // The prompt counts for penalties.
  void accept_prompt(std::span<const Token> prompt);

  // Chooses from the logits that `context` holds for batch entry `index`.
  // Errors: kInternal when the model produced no numbers or the grammar has come to a dead end.
  Result<Token> sample(llama_context* context, int index);

 private:
  struct Free {
    void operator()(common_sampler* sampler) const;
  };
  Sampler(const Vocabulary& vocabulary, int min_tokens, std::unique_ptr<common_sampler, Free> chain)
      : vocabulary_{&vocabulary}, endless_{min_tokens}, chain_{std::move(chain)} {}
  Result<Token> choose(llama_context* context, int index);

  const Vocabulary* vocabulary_;
  int endless_;                                  // so many more tokens may be no end
  std::unique_ptr<common_sampler, Free> chain_;  // null: greedy
};

}  // namespace hearth::engine
