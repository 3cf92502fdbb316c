// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "api/fields.h"
#include "front/service.h"
#include "layers/artifact/model_settings.h"
#include "wire/messages.h"

namespace hearth::api {

// What a model's name brings along for what a request leaves open: below what the client says, and
// above what its dialect does by itself. Parsers ask for it as soon as they know the name; whether
// there is such a model is not their matter.
class ModelDefaults {
 public:
  ModelDefaults() = default;  // there are none
  // The service must outlive it.
  explicit ModelDefaults(const front::Service& service) : service_{&service} {}

  // Of the model that `body` names, none where it names none.
  ModelSettings of(const Fields& body) const;

 private:
  const front::Service* service_ = nullptr;
};

// Sampling, stop texts and lengths. What is unknown, without an effect here, or out of bounds is
// passed over: it came with the model and is not this client's fault.
void apply_parameters(const ModelSettings& settings, wire::GenerateMessage& message);

// Puts the model's system text before a conversation that has none, and the model's own beginning
// of every conversation behind that.
void begin_conversation(const ModelSettings& settings, wire::GenerateMessage& message);

}  // namespace hearth::api
