// SPDX-License-Identifier: Apache-2.0
//
// FrontService's bookkeeping: what requests and hosts went through, into history, metrics and live
// events, and back out of them.
#include <utility>

#include "base/log.h"
#include "front/about.h"
#include "front/front_service.h"
#include "front/live_json.h"
#include "front/request_run.h"
#include "timeline/json_writer.h"

namespace hearth::front {
namespace {

// How often the catalogue is told that a model was used.
constexpr std::chrono::seconds kTouchInterval{10};

RequestsNow requests_now(const ModelHost& host) {
  RequestsNow now{.waiting = host.admission().waiting(), .running = host.admission().active()};
  if (host.level() == WeightsLevel::kResident) {
    now.cells = host.context_cells();
    now.cells_used = host.live_tokens();
  }
  return now;
}

// What is given back for others is counted by whoever decided on it.
void count_given_back(const ModelHost& host, Metrics& metrics) {
  if (host.level() != WeightsLevel::kUnloading) return;
  const WeightsCause cause = host.weights_cause();
  if (cause == WeightsCause::kIdle) metrics.level_moved("weights", "hollow", "idle");
  if (cause == WeightsCause::kAsked) metrics.level_moved("weights", "hollow", "asked");
}

}  // namespace

std::string FrontService::about() const {
  return about_json(About{.uptime = world_.loop.now() - started_,
                          .models = named_.size(),
                          .requests = requests_.inside(),
                          .switches = config_.switches,
                          .devices = devices_.shown()});
}

void FrontService::on_closed(const std::string& name, const RequestReport& report) {
  if (report.api == kModuleApi || report.api == kProbeApi) return;  // nobody asked
  metrics_.observe(report);
  traces_.add(report);
  log::info("request", {{"id", report.request_id},
                        {"model", name},
                        {"path", report.path},
                        {"status", report.status},
                        {"class", report.response_class ? name_of(*report.response_class) : "-"},
                        {"ms", milliseconds_of(report.timings.total)},
                        {"reason", report.message.empty() ? "-" : report.message}});
  events_.publish("request", to_history_json(report));
  history_pool_.submit([this, report] {
    if (auto added = history_.add(report); !added) {
      log::warn("history.not_written", {{"reason", added.error().message()}});
    }
  });
}

void FrontService::touch(const std::string& artifact) {
  if (!models_.contains(artifact)) return;  // it was removed meanwhile
  TimePoint& last = touched_[artifact];
  if (last != TimePoint{} && world_.loop.now() - last < kTouchInterval) return;
  last = world_.loop.now();
  const std::int64_t now_us = world_.clock.wall_us();
  for (NamedModel& named : named_) {
    if (named.artifact.id == artifact) named.artifact.last_used_at_us = now_us;
  }
  catalogue_pool_.submit([this, artifact] {
    // A model that was removed meanwhile has nothing to be noted.
    [[maybe_unused]] auto touched = catalogue_.touch(artifact);
  });
}

void FrontService::on_host_changed(ModelHost& host) {
  count_deaths(host);
  const auto found = models_.find(host.model().artifact);
  if (found == models_.end() || !found->second) return;
  if (found->second->learn_from_host() == Model::Learned::kLoad) {
    compiled_.note_load(host);
    const bool waited_for = host.last_load()->request != 0 && host.load_for() == LoadFor::kRequest;
    if (waited_for) prewarm_->demand(host.last_load()->loaded.missing);
    load_planner_.note_loaded(host.model().artifact, host.last_load()->loaded);
    world_.loop.spawn(refresh_pages(host.model().artifact));
  }
  publish_levels(*found->second);
  bool& written = hosts_seen_[host.model().artifact].files_written;
  if (!std::exchange(written, host.files_written()) && written) {
    world_.loop.spawn(look_at_files(host.model().artifact));
  }
  WeightsLevel& seen = hosts_seen_[host.model().artifact].level;
  // Progress of a load is no change for a pin.
  if (std::exchange(seen, host.level()) == host.level()) return;
  count_given_back(host, metrics_);
  pins_.look_again();
}

// The catalogue is to know of a change as soon as we do.
Task<void> FrontService::look_at_files(std::string artifact) {
  const auto pass = tasks_.enter();
  if (pass) (void)co_await recheck(std::move(artifact));
}

// A load leaves pages behind that no snapshot knows of yet.
Task<void> FrontService::refresh_pages(std::string artifact) {
  const auto pass = tasks_.enter();
  const auto found = models_.find(artifact);
  if (!pass || found == models_.end()) co_return;
  Subject subject = found->second->subject();
  (void)co_await layers_.pages().refresh(std::move(subject));
}

void FrontService::count_deaths(ModelHost& host) {
  HostSeen& seen = hosts_seen_[host.model().artifact];
  for (; seen.deaths < host.deaths(); ++seen.deaths) {
    metrics_.worker_died();
    seen.replaced = false;
  }
  if (!seen.replaced && host.has_worker()) {
    metrics_.worker_restarted();
    seen.replaced = true;
  }
}

void FrontService::publish_levels(const Model& model) {
  if (events_.subscribers() == 0) return;
  if (model.host().level() == WeightsLevel::kLoading) {
    events_.publish("progress", progress_json(model.name(), model.host().load_fraction()));
  }
  events_.publish("levels", levels_json(model.name(), model.layers()));
}

Metrics& FrontService::metrics() { return metrics_; }

void FrontService::update_gauges() {
  metrics_.set_event_subscribers(static_cast<std::int64_t>(events_.subscribers()));
  metrics_.set_memory(levels_->figures());
  if (prefix_ && prefix_->is_open()) metrics_.set_prefix(prefix_->figures());
  metrics_.set_traces(traces_.figures());
  for (const auto& [artifact, model] : models_) {
    metrics_.set_requests(model->name(), requests_now(model->host()));
    for (const LayerSnapshot& layer : model->layers()) metrics_.set_layer(model->name(), layer);
  }
}

Task<Result<std::vector<std::string>>> FrontService::history(HistoryQuery query) {
  auto job = [this, query] { return history_.list(query); };
  co_return co_await history_pool_.run(world_.loop, std::move(job));
}

std::string FrontService::running() const {
  std::string list = "[";
  for (const auto& one : under_way_) {
    const std::shared_ptr<RequestRun> run = one.lock();
    if (!run || run->closed()) continue;
    if (list.size() > 1) list += ',';
    list += request_running_json(run->report(), run->waited());
  }
  return JsonWriter{}.raw("requests", list + ']').object();
}

Task<Result<std::string>> FrontService::history_entry(std::string id) {
  auto job = [this, id]() -> Result<std::string> {
    if (id != "last") return history_.get(id);
    HistoryQuery newest;
    newest.limit = 1;
    Result<std::vector<std::string>> listed = history_.list(newest);
    if (!listed) return Failed{std::move(listed).error()};
    if (listed->empty()) return fail(ErrorCode::kNotFound, "no request has been answered yet");
    return listed->front();
  };
  co_return co_await history_pool_.run(world_.loop, std::move(job));
}

}  // namespace hearth::front
