// SPDX-License-Identifier: Apache-2.0
#include "engine/shiftable.h"

#include <llama.h>

#include <array>
#include <string>

#include "engine/restorable.h"

namespace hearth::engine {
namespace {

std::string text_of(const llama_model* model, const std::string& key) {
  std::array<char, 128> value{};
  const int size = llama_model_meta_val_str(model, key.c_str(), value.data(), value.size());
  return size < 0 ? std::string{} : std::string{value.data()};
}

// The engine turns all cells when it turns some, most of them by nothing. These also change the
// length of what they turn, so that everybody else's cells would no longer be what they were.
bool scales_what_it_turns(const llama_model* model) {
  const std::string arch = text_of(model, "general.architecture");
  const std::string scaling = text_of(model, arch + ".rope.scaling.type");
  return (!scaling.empty() && scaling != "none" && scaling != "linear") ||
         !text_of(model, arch + ".rope.scaling.attn_factor").empty();
}

}  // namespace

bool shiftable(const llama_model* model, llama_context* context) {
  return not_restorable(model).empty() && llama_model_n_swa(model) == 0 &&
         llama_memory_can_shift(llama_get_memory(context)) && !scales_what_it_turns(model);
}

}  // namespace hearth::engine
