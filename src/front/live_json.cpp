// SPDX-License-Identifier: Apache-2.0
#include "front/live_json.h"

#include <boost/json.hpp>

namespace hearth::front {
namespace json = boost::json;

std::string request_started_json(const std::string& id, const std::string& model,
                                 const RequestContext& context) {
  return json::serialize(json::object{{"request_id", id},
                                      {"model", model},
                                      {"api", context.api},
                                      {"path", context.path},
                                      {"outcome", "running"}});
}

std::string levels_json(const std::string& model, const std::vector<LayerSnapshot>& layers) {
  json::object levels;
  for (const LayerSnapshot& layer : layers) {
    levels[layer.layer] = json::object{{"level", layer.level},
                                       {"fraction", layer.fraction},
                                       {"bytes", layer.bytes.count()},
                                       {"total", layer.total.count()}};
  }
  return json::serialize(json::object{{"model", model}, {"layers", std::move(levels)}});
}

std::string progress_json(const std::string& model, double fraction) {
  return json::serialize(
      json::object{{"model", model}, {"layer", "weights"}, {"fraction", fraction}});
}

std::string pull_json(const PullStatus& pull, const TransferProgress& progress) {
  json::object event{{"source", pull.source},   {"name", pull.name}, {"state", pull.state},
                     {"stage", progress.stage}, {"done", pull.done}, {"total", pull.total},
                     {"rate", pull.bytes_per_s}};
  if (progress.eta_ms) event["eta_ms"] = *progress.eta_ms;
  return json::serialize(event);
}

std::string models_changed_json(const std::vector<NamedModel>& models) {
  json::array names;
  for (const NamedModel& model : models) {
    names.push_back(json::object{{"name", model.name}, {"status", name_of(model.artifact.status)}});
  }
  return json::serialize(json::object{{"models", std::move(names)}});
}

}  // namespace hearth::front
