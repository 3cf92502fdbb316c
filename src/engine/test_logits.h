// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <llama.h>

#include <span>
#include <vector>

#include "engine/abort_flags.h"
#include "engine/context.h"
#include "engine/cpu_threads.h"
#include "engine/model.h"
#include "engine/tokens.h"

namespace hearth::engine::test {

// The logits after the last token of `prompt`, from a new context of `cells`.
inline std::vector<float> last_logits(const Model& model, std::span<const Token> prompt, int cells,
                                      CpuThreads& threads, const AbortFlags& abort) {
  auto context = Context::create(model, {cells, 2}, threads, abort);
  EXPECT_TRUE(context);
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    const bool last = i + 1 == prompt.size();
    (*context)->add(prompt[i], static_cast<int>(i), 0, last ? Logits::kYes : Logits::kNo);
  }
  EXPECT_EQ((*context)->decode(), Decoded::kDone);
  const int tokens = llama_vocab_n_tokens(llama_model_get_vocab(model.handle()));
  EXPECT_GT(tokens, 1000);
  const float* values = llama_get_logits_ith((*context)->handle(), -1);
  return {values, values + tokens};
}

}  // namespace hearth::engine::test
