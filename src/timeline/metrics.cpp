// SPDX-License-Identifier: Apache-2.0
#include "timeline/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/stage.h"
#include "timeline/metric_families.h"

namespace hearth {
namespace {

// From a warm reply of a small model to a large one read from a slow disk.
const prometheus::Histogram::BucketBoundaries& reply_buckets() {
  static const prometheus::Histogram::BucketBoundaries buckets{
      0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};
  return buckets;
}

const prometheus::Histogram::BucketBoundaries& stage_buckets() {
  static const prometheus::Histogram::BucketBoundaries buckets{
      0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300};
  return buckets;
}

const prometheus::Histogram::BucketBoundaries& token_buckets() {
  static const prometheus::Histogram::BucketBoundaries buckets{0.001, 0.0025, 0.005, 0.01, 0.025,
                                                               0.05,  0.1,    0.25,  0.5,  1};
  return buckets;
}

const prometheus::Histogram::BucketBoundaries& error_buckets() {
  static const prometheus::Histogram::BucketBoundaries buckets{0.02, 0.05, 0.1, 0.15, 0.2,
                                                               0.3,  0.5,  1,   2,    5};
  return buckets;
}

double seconds_of(Duration duration) { return milliseconds_of(duration) / 1000; }
double count_of(Bytes bytes) { return static_cast<double>(bytes.count()); }

// Some reasons are what the system said of one file, and as many as there are files.
std::string reason_label(const std::string& reason) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || c == ' '; };
  return std::ranges::all_of(reason, plain) ? reason : "unreadable";
}

// Of what somebody else has counted.
void raise_to(prometheus::Counter& counter, double value) {
  if (value > counter.Value()) counter.Increment(value - counter.Value());
}

}  // namespace

struct Metrics::Families {
  FamilyMaker make{};
  std::set<std::string> models{};

  RequestFamilies requests{make};
  EventFamilies events{make};
  PrefixFamilies prefix{make};
  ModelFamilies model{make};
  ServerFamilies server{make};
  TraceFamilies traces{make};
};

Metrics::Metrics(const BuildInfo& build) : families_{std::make_unique<Families>()} {
  families_->server.build.Add({{"version", build.version}, {"engine", build.engine}}).Set(1);
}

Metrics::~Metrics() = default;

std::string Metrics::label(const std::string& model) {
  if (model.empty()) return "none";
  std::set<std::string>& models = families_->models;
  if (models.contains(model)) return model;
  if (models.size() >= static_cast<std::size_t>(kMaxModels)) return "other";
  models.insert(model);
  return model;
}

void Metrics::observe(const RequestReport& report) {
  RequestFamilies& f = families_->requests;
  const std::string klass{report.response_class ? name_of(*report.response_class) : "none"};
  f.requests
      .Add({{"model", label(report.model)},
            {"api", report.api},
            {"class", klass},
            {"outcome", std::string{name_of(report.outcome)}}})
      .Increment();
  if (report.outcome == Outcome::kCancelled) f.cancelled.Increment();
  observe_stages(report.timings, klass);
  if (!report.timings.shared) read_outside_requests(report.bytes_read);
  if (report.kind != RequestKind::kAnswer) return;
  if (report.response_class && report.time_to_first_token) {
    f.ttft.Add({{"class", klass}}, reply_buckets())
        .Observe(seconds_of(*report.time_to_first_token));
  }
  if (report.response_class && report.outcome == Outcome::kOk) {
    f.total.Add({{"class", klass}}, reply_buckets()).Observe(seconds_of(report.timings.total));
  }
  f.prompt_tokens.Increment(report.prompt_tokens);
  f.cached_tokens.Increment(report.cached_tokens);
  f.generated_tokens.Increment(report.generated_tokens);
  observe_phases(report);
  observe_prefix(report);
}

// As vLLM's users know them: by model, and only of what came to a first token.
void Metrics::observe_phases(const RequestReport& report) {
  if (!report.time_to_first_token) return;
  RequestFamilies& f = families_->requests;
  const prometheus::Labels labels{{"model", label(report.model)}};
  f.queue.Add(labels, reply_buckets()).Observe(seconds_of(report.timings.queued));
  f.prefill.Add(labels, reply_buckets()).Observe(seconds_of(report.prefill));
  if (report.outcome != Outcome::kOk) return;
  f.decode.Add(labels, reply_buckets()).Observe(seconds_of(report.decode));
  if (const auto rate = tokens_per_second(report); rate && *rate > 0) {
    f.per_token.Add(labels, token_buckets()).Observe(1 / *rate);
  }
}

void Metrics::observe_prefix(const RequestReport& report) {
  if (!report.prefix) return;
  PrefixFamilies& f = families_->prefix;
  f.hits.Add({{"tier", "live"}}).Increment(report.prefix->live);
  f.hits.Add({{"tier", "memory"}}).Increment(report.prefix->memory);
  f.hits.Add({{"tier", "disk"}}).Increment(report.prefix->disk);
  f.queries.Increment(report.prompt_tokens);
}

void Metrics::observe_stages(const Timings& timings, const std::string& klass) {
  for (int i = 0; i <= static_cast<int>(StageKind::kDecode); ++i) {
    const auto kind = static_cast<StageKind>(i);
    if (!timings.has(kind)) continue;
    families_->requests.stage
        .Add({{"class", klass}, {"stage", std::string{name_of(kind)}}}, stage_buckets())
        .Observe(seconds_of(timings.time_in({kind})));
  }
}

void Metrics::read_outside_requests(Bytes bytes) {
  families_->events.bytes_read.Increment(count_of(bytes));
}
void Metrics::model_loaded(const std::string& model) {
  families_->events.loads.Add({{"model", label(model)}}).Increment();
}
void Metrics::forecast_met(std::string_view start_class, double error) {
  families_->requests.forecast_error.Add({{"class", std::string{start_class}}}, error_buckets())
      .Observe(std::abs(error));
}
void Metrics::auth_failed(std::string_view reason) {
  families_->events.auth_failures.Add({{"reason", std::string{reason}}}).Increment();
}
void Metrics::http_answered(const HttpAnswer& answer) {
  prometheus::Labels labels{{"method", std::string{answer.method}},
                            {"route", std::string{answer.route}}};
  if (answer.took) {
    families_->events.http_took.Add(labels, reply_buckets()).Observe(seconds_of(*answer.took));
  }
  labels.emplace("status", std::to_string(answer.status));
  families_->events.http.Add(labels).Increment();
}
void Metrics::level_moved(std::string_view layer, std::string_view to, std::string_view cause) {
  families_->events.levels_moved
      .Add({{"layer", std::string{layer}}, {"to", std::string{to}}, {"cause", std::string{cause}}})
      .Increment();
}
void Metrics::hollow_worker_ended(std::string_view why) {
  families_->events.hollow_ended.Add({{"reason", std::string{why}}}).Increment();
}
void Metrics::worker_died() { families_->events.worker_deaths.Increment(); }
void Metrics::worker_restarted() { families_->events.worker_restarts.Increment(); }
void Metrics::request_retried() { families_->requests.retried.Increment(); }
void Metrics::queue_rejected() { families_->requests.rejected.Increment(); }
void Metrics::content_hashed(Bytes bytes) {
  families_->events.content_hashed.Increment(count_of(bytes));
}
void Metrics::rotten_found() { families_->events.rotten.Increment(); }

void Metrics::set_requests(const std::string& model, const RequestsNow& now) {
  ModelFamilies& f = families_->model;
  const prometheus::Labels labels{{"model", label(model)}};
  f.waiting.Add(labels).Set(static_cast<double>(now.waiting));
  f.running.Add(labels).Set(static_cast<double>(now.running));
  const double usage = now.cells > 0 ? static_cast<double>(now.cells_used) / now.cells : 0;
  f.kv_usage.Add(labels).Set(usage);
}
void Metrics::set_layer(const std::string& model, const LayerSnapshot& snapshot) {
  ModelFamilies& f = families_->model;
  prometheus::Labels labels{{"model", label(model)}, {"layer", snapshot.layer}};
  f.layer_bytes.Add(labels).Set(count_of(snapshot.bytes));
  f.layer_ratio.Add(labels).Set(snapshot.fraction);
  std::string& shown = f.levels[{labels["model"], snapshot.layer}];
  if (!shown.empty() && shown != snapshot.level) remove_level(labels, shown);
  shown = snapshot.level;
  labels["level"] = shown;
  f.layer_level.Add(labels).Set(1);
}
void Metrics::remove_level(std::map<std::string, std::string> labels, const std::string& level) {
  labels["level"] = level;
  auto& family = families_->model.layer_level;
  family.Remove(&family.Add(labels));
}
void Metrics::set_event_subscribers(std::int64_t subscribers) {
  families_->server.subscribers.Set(static_cast<double>(subscribers));
}

void Metrics::set_memory(const std::vector<MemoryFigures>& memories) {
  ServerFamilies& f = families_->server;
  std::map<prometheus::Labels, double> held;
  for (const MemoryFigures& memory : memories) {
    const prometheus::Labels labels{{"memory", memory.memory}};
    if (memory.limit) f.memory_limit.Add(labels).Set(count_of(*memory.limit));
    f.memory_promised.Add(labels).Set(count_of(memory.promised));
    for (const MemoryFigures::Part& part : memory.held) {
      held[{{"memory", memory.memory}, {"what", part.what}, {"model", label(part.model)}}] +=
          count_of(part.bytes);
    }
  }
  f.memory_held.replace(held);
}

void Metrics::set_prefix(const PrefixFigures& figures) {
  PrefixFamilies& f = families_->prefix;
  const auto set_tier = [&f](const char* name, const PrefixFigures::Tier& tier) {
    const prometheus::Labels labels{{"tier", name}};
    f.bytes.Add(labels).Set(count_of(tier.bytes));
    f.blocks.Add(labels).Set(static_cast<double>(tier.blocks));
    raise_to(f.evicted.Add(labels), static_cast<double>(tier.evicted));
    if (tier.bytes_per_second > 0) f.rate.Add(labels).Set(tier.bytes_per_second);
  };
  set_tier("memory", figures.memory);
  set_tier("disk", figures.disk);
  std::map<std::string, double> refused;
  for (const auto& [reason, blocks] : figures.refused) {
    refused[reason_label(reason)] += static_cast<double>(blocks);
  }
  for (const auto& [reason, blocks] : refused) {
    raise_to(f.refused.Add({{"reason", reason}}), blocks);
  }
  raise_to(f.saved, figures.saved_seconds);
  const Bytes now = figures.written_today;
  const Bytes before = f.written_today.value_or(now);
  f.written.Increment(count_of(now >= before ? now - before : now));
  f.written_today = now;
}

void Metrics::set_traces(const TraceFigures& figures) {
  TraceFamilies& traces = families_->traces;
  const auto raise = [&traces](const char* outcome, std::uint64_t value) {
    raise_to(traces.requests.Add({{"outcome", outcome}}), static_cast<double>(value));
  };
  raise("sent", figures.sent);
  raise("dropped", figures.dropped);
  raise("refused", figures.refused);
  raise_to(traces.rejected, static_cast<double>(figures.rejected_spans));
  raise_to(traces.failures, static_cast<double>(figures.failures));
  traces.waiting.Set(static_cast<double>(figures.waiting));
}

void Metrics::forget_model(const std::string& model) {
  ModelFamilies& f = families_->model;
  if (!families_->models.contains(model)) return;
  // Add() finds what is there, and what it would make anew goes at once.
  for (FamilyMaker::Gauges* family : {&f.waiting, &f.running, &f.kv_usage}) {
    family->Remove(&family->Add({{"model", model}}));
  }
  for (const char* layer : {"artifact", "pages", "weights", "compiled", "prefix"}) {
    const prometheus::Labels labels{{"model", model}, {"layer", layer}};
    for (FamilyMaker::Gauges* family : {&f.layer_bytes, &f.layer_ratio}) {
      family->Remove(&family->Add(labels));
    }
    const auto shown = f.levels.find({model, layer});
    if (shown == f.levels.end()) continue;
    remove_level(labels, shown->second);
    f.levels.erase(shown);
  }
}

void Metrics::count_log_warnings() {
  for (const auto& [event, count] : log::counts()) {
    raise_to(families_->events.warnings.Add({{"event", event}}), static_cast<double>(count));
  }
}

std::string Metrics::text() {
  if (refresh_) refresh_();
  count_log_warnings();
  return prometheus::TextSerializer{}.Serialize(families_->make.collect());
}

}  // namespace hearth
