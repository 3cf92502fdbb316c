// SPDX-License-Identifier: Apache-2.0
#include "front/model_status.h"

#include <algorithm>

#include "front/signed_count.h"
#include "layers/artifact/artifact_layer.h"

namespace hearth::front {
namespace {

LayerStatus status_of(const LayerSnapshot& layer) {
  return {layer.layer,
          layer.level,
          layer.fraction,
          signed_count(layer.bytes),
          signed_count(layer.total),
          layer.detail};
}

std::vector<LayerStatus> untouched(const NamedModel& named) {
  const LayerState files = artifact_state(named.artifact);
  const auto load_set = signed_count(size_of(named.artifact.load_set()));
  return {{"artifact", files.level, files.fraction, signed_count(files.bytes),
           signed_count(files.total), files.detail},
          {"pages", "absent", 0, 0, load_set, "not looked at yet"},
          {"weights", "none", 0, 0, load_set, ""},
          {"compiled", "none", 0, 0, 0, ""},
          {"prefix", "none", 0, 0, 0, ""}};
}

WorkerStatus worker_status(const ModelHost& host, TimePoint now) {
  WorkerStatus worker;
  worker.pid = host.pid();
  worker.uptime_ms = (now - *host.worker_started()) / std::chrono::milliseconds{1};
  worker.resident_bytes = signed_count(host.heartbeat().resident);
  worker.anonymous_bytes = signed_count(host.heartbeat().anonymous);
  if (host.last_load() && host.level() == WeightsLevel::kResident) {
    const wire::MemoryUse& memory = host.last_load()->loaded.memory;
    worker.device_bytes = signed_count(memory.device);
    // Until the worker has told once what it holds, at least what it loaded.
    const std::int64_t loaded = signed_count(memory.weights + memory.mapped + memory.context);
    worker.resident_bytes = std::max(worker.resident_bytes, loaded - worker.device_bytes);
  }
  worker.backend = host.ready()->backend;
  worker.engine = host.ready()->engine;
  worker.context = host.context_cells();
  worker.context_limit = host.ready()->context_limit;
  worker.threads = host.heartbeat().threads;
  return worker;
}

// What it is for: what its worker found when it tried, or else what the file looks like. A model
// that was made for replies embeds too, but is not listed for it.
std::vector<std::string> capabilities_of(const ModelFacts& facts, const ModelHost* host) {
  const wire::ReadyMessage* ready =
      host != nullptr && host->has_worker() ? &*host->ready() : nullptr;
  const bool generates = ready != nullptr ? ready->generates : !facts.pools;
  const bool tools = ready != nullptr ? ready->calls_tools : facts.template_tools;
  const bool thinks = ready != nullptr ? ready->thinks : facts.template_thinks;
  std::vector<std::string> capabilities;
  if (generates) capabilities.emplace_back("completion");
  if (generates && tools) capabilities.emplace_back("tools");
  if (generates && thinks) capabilities.emplace_back("thinking");
  // Only the engine knows the many names of such tokens.
  if (generates && ready != nullptr && ready->fills) capabilities.emplace_back("insert");
  if (facts.pools || !generates) capabilities.emplace_back("embedding");
  return capabilities;
}

// What is known of it without its worker.
ModelStatus status_of_files(const NamedModel& named) {
  const Artifact& artifact = named.artifact;
  ModelStatus status;
  status.name = named.name;
  status.artifact = artifact.id;
  status.status = name_of(artifact.status);
  status.reason = artifact.reason;
  for (const Artifact::Shard& shard : artifact.shards) status.paths.push_back(shard.path);
  status.size = signed_count(artifact.size());
  status.imported_at_us = artifact.imported_at_us;
  status.last_used_us = artifact.last_used_at_us;
  status.architecture = artifact.facts.architecture;
  status.quantization = artifact.facts.quantisation;
  status.parameters = static_cast<std::int64_t>(artifact.facts.parameters);
  status.trained_context = static_cast<int>(artifact.facts.context_length);
  status.embedding_length = static_cast<int>(artifact.facts.embedding_length);
  status.has_chat_template = artifact.facts.has_chat_template;
  status.license = artifact.facts.license;
  status.digest = artifact.content().value_or("");
  status.store = name_of(artifact.store);
  status.source = artifact.origin.source;
  status.verified_us = artifact.verified_at_us;
  status.shards = static_cast<int>(artifact.shards.size());
  status.adapters = static_cast<int>(artifact.adapters.size());
  status.settings = named.settings;
  return status;
}

void add_host(ModelStatus& status, const ModelHost& host, TimePoint now) {
  if (host.has_worker()) status.worker = worker_status(host, now);
  // Want of memory or of a process passes; a file that the engine cannot take does not.
  const bool refused = host.failure() && (host.failure()->code() == ErrorCode::kCorrupt ||
                                          host.failure()->code() == ErrorCode::kUnsupported);
  if (refused && status.status == "ok") {
    status.status = "broken";
    status.reason = host.failure()->message();
  }
  status.active = host.admission().active();
  status.queued = host.admission().waiting();
}

void add_need(ModelStatus& status, const ModelHost& host) {
  if (!host.has_worker()) return;
  const wire::MemoryUse& need = host.ready()->estimate;
  const Bytes all = need.weights + need.mapped + need.context + need.compute;
  if (all == Bytes{}) return;  // the engine could not tell
  status.need =
      LoadNeed{signed_count(need.weights), signed_count(need.mapped),  signed_count(need.repacked),
               signed_count(need.context), signed_count(need.compute), signed_count(need.device)};
}

void add_stay(ModelStatus& status, const Stay& stay) {
  const StayTerms terms = stay.terms();
  status.keep_alive = terms.keep_alive;
  status.keep_alive_source = terms.source;
  status.expires_at_us = stay.expires_at_us();
}

bool uses(const Artifact& artifact, const FileInfo& file) {
  const auto is_it = [&](const Artifact::Shard& one) {
    return one.file.inode == file.inode && one.file.device == file.device;
  };
  return std::ranges::any_of(artifact.shards, is_it) ||
         std::ranges::any_of(artifact.adapters, is_it);
}

}  // namespace

Bytes shared_with_others(const NamedModel& named, const std::vector<NamedModel>& all) {
  Bytes shared;
  for (const Artifact::Shard* file : named.artifact.files()) {
    const bool by_others = std::ranges::any_of(all, [&](const NamedModel& other) {
      return other.key != named.key && uses(other.artifact, file->file);
    });
    if (by_others) shared += file->file.size;
  }
  return shared;
}

PredictedTtft predicted_ttft(const Outlook& outlook, std::vector<double> errors) {
  const Forecast forecast = outlook.at(Model::kShortPrompt);
  PredictedTtft predicted;
  predicted.ms = milliseconds_of(forecast.time);
  predicted.low_ms = milliseconds_of(forecast.low);
  predicted.high_ms = milliseconds_of(forecast.high);
  predicted.known = forecast.known;
  predicted.start = name_of(outlook.start_class);
  predicted.errors = std::move(errors);
  return predicted;
}

ModelStatus model_status(const NamedModel& named, const Model* model, TimePoint now) {
  ModelStatus status = status_of_files(named);
  const ModelHost* host = model == nullptr ? nullptr : &model->host();
  status.capabilities = capabilities_of(named.artifact.facts, host);
  if (model == nullptr) {
    status.layers = untouched(named);
    return status;
  }
  for (const LayerSnapshot& layer : model->layers()) status.layers.push_back(status_of(layer));
  add_need(status, *host);
  add_host(status, *host, now);
  add_stay(status, model->stay());
  return status;
}

}  // namespace hearth::front
