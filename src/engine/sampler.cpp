// SPDX-License-Identifier: Apache-2.0
#include "engine/sampler.h"

#include <common.h>
#include <llama.h>
#include <sampling.h>

#include <cmath>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

namespace hearth::engine {
namespace {

// A bias at or below this is a ban; JSON has no infinity.
constexpr double kBan = -1e9;

bool has_penalties(const SamplingOptions& o) {
  return o.repeat_last_n != 0 &&
         (o.repeat_penalty != 1.0 || o.presence_penalty != 0.0 || o.frequency_penalty != 0.0);
}

bool is_plain_greedy(const Vocabulary& vocabulary, const SamplingOptions& o, const Constraint& c) {
  return o.temperature <= 0.0 && !has_penalties(o) && o.logit_bias.empty() && !o.ignore_eos &&
         c.grammar.empty() && !vocabulary.suppresses_tokens();
}

void set_numbers(const SamplingOptions& o, common_params_sampling& params) {
  if (o.seed) params.seed = *o.seed;
  params.temp = static_cast<float>(o.temperature);
  params.top_p = static_cast<float>(o.top_p);
  params.top_k = o.top_k;
  params.min_p = static_cast<float>(o.min_p);
  params.typ_p = static_cast<float>(o.typical_p);
  params.penalty_repeat = static_cast<float>(o.repeat_penalty);
  params.penalty_present = static_cast<float>(o.presence_penalty);
  params.penalty_freq = static_cast<float>(o.frequency_penalty);
  params.penalty_last_n = o.repeat_last_n;
  params.no_perf = true;
}

void set_biases(const Vocabulary& vocabulary, const SamplingOptions& o,
                common_params_sampling& params) {
  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
  for (const auto& [token, bias] : o.logit_bias) {
    if (!vocabulary.contains(token)) continue;
    params.logit_bias.push_back({token, bias <= kBan ? kMinusInfinity : static_cast<float>(bias)});
  }
  if (!o.ignore_eos) return;
  for (const Token token : vocabulary.eog_tokens())
    params.logit_bias.push_back({token, kMinusInfinity});
}

void set_grammar(const Constraint& c, common_params_sampling& params) {
  params.generation_prompt = c.generation_prompt;
  params.preserved_tokens = {c.preserved.begin(), c.preserved.end()};
  if (c.grammar.empty()) return;
  params.grammar =
      common_grammar{c.source == Constraint::Source::kRequest ? COMMON_GRAMMAR_TYPE_USER
                                                              : COMMON_GRAMMAR_TYPE_TOOL_CALLS,
                     c.grammar};
  params.grammar_lazy = c.lazy;
  for (const GrammarTrigger& trigger : c.triggers) {
    params.grammar_triggers.push_back(
        {static_cast<common_grammar_trigger_type>(trigger.kind), trigger.value, trigger.token});
  }
}

// While it lives, `tokens` cannot be chosen; afterwards the logits are what they were.
class Banned {
 public:
  Banned(float* logits, const std::vector<Token>& tokens) : logits_{logits}, tokens_{tokens} {
    for (const Token token : tokens_) {
      before_.push_back(std::exchange(logits_[token], -std::numeric_limits<float>::infinity()));
    }
  }
  ~Banned() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) logits_[tokens_[i]] = before_[i];
  }
  Banned(const Banned&) = delete;
  Banned& operator=(const Banned&) = delete;

 private:
  float* logits_;
  const std::vector<Token>& tokens_;
  std::vector<float> before_;
};

Token largest(const float* logits, int count) {
  int best = 0;
  for (int i = 1; i < count; ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  return best;
}

}  // namespace

void Sampler::Free::operator()(common_sampler* sampler) const { common_sampler_free(sampler); }

Result<Sampler> Sampler::create(const Vocabulary& vocabulary, const SamplingOptions& options,
                                const Constraint& constraint) {
  if (is_plain_greedy(vocabulary, options, constraint)) {
    return Sampler{vocabulary, options.min_tokens, nullptr};
  }
  common_params_sampling params;
  set_numbers(options, params);
  if (params.penalty_last_n < 0) params.penalty_last_n = vocabulary.trained_context();
  set_biases(vocabulary, options, params);
  set_grammar(constraint, params);
  try {
    common_sampler* chain = common_sampler_init(vocabulary.handle(), params);
    return Sampler{vocabulary, options.min_tokens, std::unique_ptr<common_sampler, Free>{chain}};
  } catch (const std::exception& e) {
    return fail(ErrorCode::kInvalid, e.what());
  }
}

void Sampler::accept_prompt(std::span<const Token> prompt) {
  if (!chain_) return;
  for (const Token token : prompt) common_sampler_accept(chain_.get(), token, false);
}

Result<Token> Sampler::sample(llama_context* context, int index) {
  if (endless_ <= 0) return choose(context, index);
  --endless_;
  const Banned ends{llama_get_logits_ith(context, index), vocabulary_->eog_tokens()};
  return choose(context, index);
}

Result<Token> Sampler::choose(llama_context* context, int index) {
  if (!chain_) {
    const float* logits = llama_get_logits_ith(context, index);
    const Token token = largest(logits, vocabulary_->size());
    if (std::isfinite(logits[token])) return token;
    return fail(ErrorCode::kInternal, "the model produced no numbers for the next token");
  }
  try {
    const Token token = common_sampler_sample(chain_.get(), context, index);
    common_sampler_accept(chain_.get(), token, true);
    return token;
  } catch (const std::exception& e) {
    return fail(ErrorCode::kInternal, std::string{"sampling: "} + e.what());
  }
}

}  // namespace hearth::engine
