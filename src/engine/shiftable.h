// SPDX-License-Identifier: Apache-2.0
#pragma once

struct llama_context;
struct llama_model;

namespace hearth::engine {

// See Context::can_shift().
bool shiftable(const llama_model* model, llama_context* context);

}  // namespace hearth::engine
