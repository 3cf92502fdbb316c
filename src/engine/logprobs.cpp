// SPDX-License-Identifier: Apache-2.0
#include "engine/logprobs.h"

#include <llama.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/vocabulary.h"

namespace hearth::engine {
namespace {

struct Candidate {
  float logit;
  Token token;
};

bool likelier(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

std::vector<Candidate> likeliest(std::span<const float> logits, std::size_t count) {
  std::vector<Candidate> best;
  for (std::size_t i = 0; count > 0 && i < logits.size(); ++i) {
    const Candidate one{logits[i], static_cast<Token>(i)};
    const bool full = best.size() == count;
    if (std::isnan(one.logit) || (full && !likelier(one, best.back()))) continue;
    if (full) best.pop_back();
    best.insert(std::ranges::upper_bound(best, one, likelier), one);
  }
  return best;
}

// log(sum(exp(logits))), from the largest one on, so that nothing overflows.
double log_sum(std::span<const float> logits) {
  const float largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  return largest + std::log(sum);
}

}  // namespace

Logprobs logprobs_of(std::span<const float> logits, Token chosen, int top) {
  const double whole = log_sum(logits);
  const auto logprob = [whole](float logit) {
    const double value = logit - whole;
    return std::isnan(value) ? kLeastLogprob : std::max(value, kLeastLogprob);
  };
  Logprobs out{logprob(logits[static_cast<std::size_t>(chosen)]), {}};
  for (const Candidate& one : likeliest(logits, static_cast<std::size_t>(std::max(top, 0)))) {
    out.top.push_back({one.token, logprob(one.logit)});
  }
  return out;
}

Logprobs read_logprobs(llama_context* context, int index, const Vocabulary& vocabulary,
                       Token chosen, int top) {
  const float* logits = llama_get_logits_ith(context, index);
  return logprobs_of({logits, static_cast<std::size_t>(vocabulary.size())}, chosen, top);
}

}  // namespace hearth::engine
