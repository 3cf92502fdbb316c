// SPDX-License-Identifier: Apache-2.0
#include "engine/restorable.h"

#include <llama.h>

namespace hearth::engine {

std::string not_restorable(const llama_model* model) {
  if (llama_model_is_recurrent(model)) {
    return "the model folds all tokens into one state, which has no parts that could be put back";
  }
  if (llama_model_is_hybrid(model)) {
    return "some of the model's layers fold all tokens into one state, which has no parts that "
           "could "
           "be put back";
  }
  if (llama_model_has_encoder(model)) {
    return "the model reads its prompt with an encoder, whose result is not in the cells";
  }
  if (llama_model_is_diffusion(model)) {
    return "the model changes earlier tokens again, so there is nothing to put back";
  }
  return {};
}

}  // namespace hearth::engine
