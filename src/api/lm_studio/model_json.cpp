// SPDX-License-Identifier: Apache-2.0
#include "api/lm_studio/model_json.h"

#include <algorithm>

#include "api/errors.h"
#include "api/implied_model.h"
#include "api/model_json.h"
#include "api/ollama/model_entry.h"
#include "timeline/json_writer.h"

namespace hearth::api::lm_studio {
namespace {

bool can(const front::ModelStatus& model, std::string_view what) {
  return std::ranges::find(model.capabilities, what) != model.capabilities.end();
}

// "org" of "hf.co/org/model:tag"; our own names have none.
std::string publisher_of(const std::string& name) {
  const std::size_t end = name.rfind('/');
  if (end == std::string::npos) return "";
  const std::size_t begin = name.rfind('/', end - 1);
  return name.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1));
}

std::string quantization_json(const front::ModelStatus& model) {
  JsonWriter out;
  out.string("name", model.quantization);
  if (model.parameters <= 0) return out.null("bits_per_weight").object();
  const double bits = static_cast<double>(model.size) * 8 / static_cast<double>(model.parameters);
  return out.number("bits_per_weight", bits).object();
}

std::string instances_json(const front::ModelStatus& model) {
  if (!is_loaded(model)) return "[]";
  JsonWriter out;
  out.string("id", model.name).raw("config", config_json(model));
  return "[" + out.object() + "]";
}

}  // namespace

std::string_view type_of(const front::ModelStatus& model) {
  return can(model, "embedding") && !can(model, "completion") ? "embedding" : "llm";
}

int context_of(const front::ModelStatus& model) {
  const bool known = model.worker && model.worker->context_limit > 0;
  return known ? model.worker->context_limit : model.trained_context;
}

std::string config_json(const front::ModelStatus& model) {
  return JsonWriter{}.integer("context_length", context_of(model)).object();
}

std::string entry_json(const front::ModelStatus& model) {
  JsonWriter capabilities;
  capabilities.yes_or_no("vision", false);
  capabilities.yes_or_no("trained_for_tool_use", can(model, "tools"));
  JsonWriter out;
  out.string("type", type_of(model)).string("publisher", publisher_of(model.name));
  out.string("key", model.name).string("display_name", model.name);
  out.string("architecture", model.architecture).raw("quantization", quantization_json(model));
  out.integer("size_bytes", model.size);
  out.string("params_string", ollama::parameter_size(model.parameters));
  out.raw("loaded_instances", instances_json(model));
  out.integer("max_context_length", model.trained_context).string("format", "gguf");
  out.raw("capabilities", capabilities.object());
  return out.raw("hearth", api::model_json(model, Audience::kClients)).object();
}

}  // namespace hearth::api::lm_studio
