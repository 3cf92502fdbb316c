// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth {

// What goes with a name beside the files: what a Modelfile says, or the small layers of a model
// from a registry. It changes requests, never how the weights are loaded. Texts are UTF-8; an empty
// one is "not said".
struct ModelSettings {
  std::string system;      // for conversations that bring no system message
  std::string parameters;  // JSON object in Ollama's words: {"temperature": 0.7, "stop": ["x"]}
  // As it was given: a Jinja template takes the place of the file's own, any other is shown only.
  std::string chat_template;
  std::string license;
  std::string messages;  // JSON list, the beginning of every conversation

  bool empty() const { return *this == ModelSettings{}; }
  friend bool operator==(const ModelSettings&, const ModelSettings&) = default;
};

// Whether a chat template is one that the engine can run.
bool is_jinja(std::string_view chat_template);

std::string json_of(const ModelSettings& settings);
// Errors: kCorrupt.
Result<ModelSettings> settings_of(std::string_view json);

}  // namespace hearth
