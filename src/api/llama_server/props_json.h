// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/errors.h"
#include "front/service.h"

// What llama-server's clients see of a model. Pure.
namespace hearth::api::llama_server {

// A sequence of a loaded model's context.
struct Slot {
  int tokens = 0;  // in its cells
  bool busy = false;
};

// Of one model, out of what Service::prefix() says; none while it has no worker.
std::vector<Slot> slots_of(const std::string& prefix_json, const std::string& model);

std::string slots_json(const front::ModelStatus& model, const std::vector<Slot>& slots);

// Where the file lies, only admins see.
std::string props_json(const front::ModelStatus& model, const front::ModelDetails& details,
                       std::size_t slots, Audience audience);

}  // namespace hearth::api::llama_server
