// SPDX-License-Identifier: Apache-2.0
#include "api/model_json.h"

#include "api/errors.h"
#include "api/json_text.h"
#include "timeline/json_writer.h"

namespace hearth::api {
namespace {

std::string layers_json(const std::vector<front::LayerStatus>& layers) {
  JsonWriter out;
  for (const front::LayerStatus& layer : layers) {
    JsonWriter one;
    one.string("level", layer.level).number("fraction", layer.fraction);
    one.integer("bytes", layer.bytes).integer("total", layer.total);
    if (!layer.detail.empty()) one.string("detail", layer.detail);
    out.raw(layer.layer, one.object());
  }
  return out.object();
}

std::string worker_json(const front::WorkerStatus& worker) {
  JsonWriter out;
  out.integer("pid", worker.pid).integer("uptime_ms", worker.uptime_ms);
  out.integer("resident_bytes", worker.resident_bytes);
  out.integer("anonymous_bytes", worker.anonymous_bytes);
  out.integer("device_bytes", worker.device_bytes);
  out.string("backend", worker.backend).string("engine", worker.engine);
  return out.integer("context", worker.context).integer("threads", worker.threads).object();
}

void add_text_or_null(JsonWriter& out, std::string_view key, const std::string& text) {
  if (text.empty()) {
    out.null(key);
  } else {
    out.string(key, text);
  }
}

void add_facts(JsonWriter& out, const front::ModelStatus& model) {
  out.integer("size", model.size).integer("imported_at_us", model.imported_at_us);
  out.integer("last_used_us", model.last_used_us);
  out.string("architecture", model.architecture).string("quantization", model.quantization);
  out.integer("parameters", model.parameters).integer("trained_context", model.trained_context);
  out.integer("embedding_length", model.embedding_length);
  out.yes_or_no("has_chat_template", model.has_chat_template);
  add_text_or_null(out, "license", model.license);
}

void add_files(JsonWriter& out, const front::ModelStatus& model, Audience audience) {
  add_text_or_null(out, "digest", model.digest);
  out.string("store", model.store);
  add_text_or_null(out, "source", shown_source(model.source, audience));
  out.integer("verified_at_us", model.verified_us).integer("shared_bytes", model.shared_bytes);
  out.integer("shards", model.shards).integer("adapters", model.adapters);
}

std::string settings_json(const ModelSettings& settings) {
  JsonWriter out;
  if (!settings.system.empty()) out.string("system", settings.system);
  if (!settings.chat_template.empty()) {
    out.string("template", settings.chat_template);
    out.yes_or_no("template_runs", is_jinja(settings.chat_template));
  }
  if (!settings.license.empty()) out.string("license", settings.license);
  if (!settings.parameters.empty()) out.raw("parameters", settings.parameters);
  if (!settings.messages.empty()) out.raw("messages", settings.messages);
  return out.object();
}

std::string need_json(const front::LoadNeed& need) {
  JsonWriter out;
  out.integer("weights_bytes", need.weights).integer("mapped_bytes", need.mapped);
  out.integer("repacked_bytes", need.repacked).integer("context_bytes", need.context);
  out.integer("compute_bytes", need.compute).integer("device_bytes", need.device);
  return out.object();
}

std::string predicted_json(const front::PredictedTtft& predicted) {
  std::string errors;
  for (const double error : predicted.errors) {
    errors += (errors.empty() ? "" : ",") + three_decimals(error);
  }
  JsonWriter out;
  out.number("low_ms", predicted.low_ms).number("high_ms", predicted.high_ms);
  out.yes_or_no("known", predicted.known).string("start", predicted.start);
  return out.raw("errors", "[" + errors + "]").object();
}

void add_stay(JsonWriter& out, const front::ModelStatus& model) {
  out.string("keep_alive", model.keep_alive.text());
  out.string("keep_alive_source", model.keep_alive_source);
  if (model.expires_at_us) out.integer("expires_at_us", *model.expires_at_us);
  out.raw("pinned", json_strings(model.pinned));
}

}  // namespace

std::string shown_source(const std::string& source, Audience audience) {
  return audience == Audience::kAdmin ? source : source.substr(0, source.find('?'));
}

std::string model_json(const front::ModelStatus& model, Audience audience, Extent extent) {
  JsonWriter out;
  out.string("name", model.name).string("artifact", model.artifact).string("status", model.status);
  if (!model.reason.empty()) {
    out.string("reason",
               audience == Audience::kAdmin ? model.reason : without_directories(model.reason));
  }
  if (audience == Audience::kAdmin) out.raw("paths", json_strings(model.paths));
  add_facts(out, model);
  add_files(out, model, audience);
  if (extent == Extent::kWhole) out.raw("settings", settings_json(model.settings));
  out.raw("capabilities", json_strings(model.capabilities));
  out.raw("aliases", json_strings(model.aliases));
  add_stay(out, model);
  out.raw("layers", layers_json(model.layers));
  if (model.worker && audience == Audience::kAdmin) out.raw("worker", worker_json(*model.worker));
  if (model.need && audience == Audience::kAdmin) out.raw("need", need_json(*model.need));
  if (model.predicted_ttft) {
    out.number("predicted_ttft_ms", model.predicted_ttft->ms);
    out.raw("predicted_ttft", predicted_json(*model.predicted_ttft));
  }
  return out.integer("active", model.active).integer("queued", model.queued).object();
}

}  // namespace hearth::api
