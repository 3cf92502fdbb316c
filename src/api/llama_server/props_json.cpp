// SPDX-License-Identifier: Apache-2.0
#include "api/llama_server/props_json.h"

#include <boost/json.hpp>

#include "api/implied_model.h"
#include "api/model_defaults.h"
#include "base/json.h"
#include "base/version.h"
#include "timeline/json_writer.h"
#include "wire/messages.h"

namespace hearth::api::llama_server {
namespace json = boost::json;
namespace {

int context_of(const front::ModelStatus& model) {
  const bool known = model.worker && model.worker->context_limit > 0;
  return known ? model.worker->context_limit : model.trained_context;
}

std::string sampling_json(const front::ModelStatus& model) {
  wire::GenerateMessage message;
  apply_parameters(model.settings, message);
  const wire::Sampling& sampling = message.sampling;
  JsonWriter out;
  if (sampling.seed) out.integer("seed", *sampling.seed);
  out.number("temperature", sampling.temperature).integer("top_k", sampling.top_k);
  out.number("top_p", sampling.top_p).number("min_p", sampling.min_p);
  out.number("typical_p", sampling.typical_p);
  out.integer("repeat_last_n", sampling.repeat_last_n);
  out.number("repeat_penalty", sampling.repeat_penalty);
  out.number("presence_penalty", sampling.presence_penalty);
  out.number("frequency_penalty", sampling.frequency_penalty);
  return out.integer("n_predict", message.max_tokens).object();
}

// That its requests go by.
const std::string& template_of(const front::ModelStatus& model,
                               const front::ModelDetails& details) {
  return is_jinja(model.settings.chat_template) ? model.settings.chat_template
                                                : details.chat_template;
}

}  // namespace

std::vector<Slot> slots_of(const std::string& prefix_json, const std::string& model) {
  std::vector<Slot> slots;
  const auto view = parse_json(prefix_json);
  if (!view) return slots;
  for (const json::value& one : view->at("models").as_array()) {
    if (one.at("model") != json::value(model)) continue;
    for (const json::value& slot : one.at("slots").as_array()) {
      slots.push_back({static_cast<int>(slot.at("tokens").as_int64()), slot.at("busy").as_bool()});
    }
  }
  return slots;
}

std::string slots_json(const front::ModelStatus& model, const std::vector<Slot>& slots) {
  std::string list = "[";
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (i > 0) list += ',';
    JsonWriter out;
    out.integer("id", static_cast<std::int64_t>(i)).integer("n_ctx", context_of(model));
    out.yes_or_no("speculative", false).yes_or_no("is_processing", slots[i].busy);
    list += out.integer("n_cached", slots[i].tokens).string("model", model.name).object();
  }
  return list + ']';
}

std::string props_json(const front::ModelStatus& model, const front::ModelDetails& details,
                       std::size_t slots, Audience audience) {
  JsonWriter settings;
  settings.integer("n_ctx", context_of(model)).raw("params", sampling_json(model));
  JsonWriter out;
  out.raw("default_generation_settings", settings.object());
  out.integer("total_slots", static_cast<std::int64_t>(slots)).string("model_alias", model.name);
  if (audience == Audience::kAdmin && !model.paths.empty()) {
    out.string("model_path", model.paths.front());
  }
  out.raw("modalities", R"({"vision":false,"audio":false})");
  out.string("chat_template", template_of(model, details));
  out.string("build_info", engine_build()).yes_or_no("is_sleeping", !is_loaded(model));
  return out.object();
}

}  // namespace hearth::api::llama_server
