// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

struct llama_model;

namespace hearth::engine {

// Why the state of some of a prompt's tokens cannot be kept and put back exactly with this model,
// in a sentence for people; empty: it can. Asks for the architecture only, so a model that was
// opened for its vocabulary will do.
std::string not_restorable(const llama_model* model);

}  // namespace hearth::engine
