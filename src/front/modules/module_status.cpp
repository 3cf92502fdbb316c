// SPDX-License-Identifier: Apache-2.0
#include "front/modules/module_status.h"

#include <cstdint>

#include "timeline/json_writer.h"

namespace hearth::front {
namespace {

std::string model_json(const ModuleStatus::OfModel& model) {
  JsonWriter out;
  out.string("model", model.model);
  if (model.tokens) out.integer("tokens", *model.tokens);
  if (!model.tokens) out.null("tokens");
  if (model.level.empty()) return out.null("level").object();
  return out.string("level", model.level).object();
}

}  // namespace

std::string to_json(const ModuleStatus& status, ModuleShown shown) {
  const Module& module = status.module;
  const bool files = shown.files == ModuleShown::Files::kShown;
  JsonWriter out;
  out.string("name", module.name);
  if (module.broken.empty()) out.string("version", module.version_name());
  if (!module.broken.empty()) out.null("version");
  const bool configured = module.source == Module::Source::kConfiguration;
  out.string("source", configured ? "configuration" : "api");
  out.integer("bytes", static_cast<std::int64_t>(module.text.size()));
  if (files && !module.file.empty()) out.string("file", module.file);
  if (!module.broken.empty()) {
    out.string("broken", files ? module.broken : "its file cannot be read");
  }
  std::string models = "[";
  for (const ModuleStatus::OfModel& model : status.models) {
    if (models.size() > 1) models += ',';
    models += model_json(model);
  }
  out.raw("models", models + "]");
  if (shown.text == ModuleShown::Text::kShown) out.string("text", module.text);
  return out.object();
}

}  // namespace hearth::front
