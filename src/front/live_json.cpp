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

std::string request_running_json(const RequestReport& report, Duration waited) {
  json::array stages;
  for (const TimedStage& stage : report.timings.stages) {
    json::object one{{"name", name_of(stage.kind)},
                     {"start_ms", milliseconds_of(stage.start)},
                     {"ms", milliseconds_of(stage.length)}};
    if (stage.bytes > Bytes{}) one["bytes"] = stage.bytes.count();
    if (stage.shared) one["shared"] = true;
    stages.push_back(std::move(one));
  }
  json::object event{{"request_id", report.request_id},
                     {"model", report.model},
                     {"api", report.api},
                     {"path", report.path},
                     {"outcome", "running"},
                     {"elapsed_ms", milliseconds_of(waited)},
                     {"stages", std::move(stages)}};
  if (report.time_to_first_token) {
    event["ttft_ms"] = milliseconds_of(*report.time_to_first_token);
  }
  return json::serialize(event);
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
