// SPDX-License-Identifier: Apache-2.0
#include "timeline/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/stage.h"

namespace hearth {
namespace {

using Counters = prometheus::Family<prometheus::Counter>;
using Gauges = prometheus::Family<prometheus::Gauge>;
using Histograms = prometheus::Family<prometheus::Histogram>;

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

const prometheus::Histogram::BucketBoundaries& error_buckets() {
  static const prometheus::Histogram::BucketBoundaries buckets{0.02, 0.05, 0.1, 0.15, 0.2,
                                                               0.3,  0.5,  1,   2,    5};
  return buckets;
}

double seconds_of(Duration duration) { return milliseconds_of(duration) / 1000; }
double count_of(Bytes bytes) { return static_cast<double>(bytes.count()); }

// Of what somebody else has counted.
void raise_to(prometheus::Counter& counter, double value) {
  if (value > counter.Value()) counter.Increment(value - counter.Value());
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  std::set<std::string> models{};

  Counters& counters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  prometheus::Counter& counter(const char* name, const char* help) {
    return counters(name, help).Add({});
  }
  Gauges& gauges(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  Histograms& histograms(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }

  Counters& requests = counters("hearth_requests_total",
                                "Requests that have ended. A growing share of classes other than "
                                "warm means that models do not "
                                "stay where they are used.");
  Histograms& ttft = histograms("hearth_ttft_seconds",
                                "From a request's first byte to its first token, by class: compare "
                                "classes, not one average.");
  Histograms& total = histograms("hearth_total_seconds",
                                 "From a request's first byte to its reply's last byte, by class.");
  Histograms& stage = histograms("hearth_stage_seconds",
                                 "Time of each request in each stage that it had. Stages overlap, "
                                 "so they do not add up to the "
                                 "total.");
  Histograms& forecast_error =
      histograms("hearth_predictor_error_ratio",
                 "How far the forecast time to first token lay off, as a part of the time that it "
                 "then took, by what the model had to do for it. Half of all should be below 0.2.");
  prometheus::Counter& prompt_tokens =
      counter("hearth_prompt_tokens_total", "Tokens of all prompts, cached ones included.");
  prometheus::Counter& cached_tokens = counter("hearth_prompt_tokens_cached_total",
                                               "Prompt tokens whose state was reused. Over prompt "
                                               "tokens, this is the prefix cache's hit rate.");
  prometheus::Counter& generated_tokens =
      counter("hearth_generated_tokens_total", "Tokens generated.");
  prometheus::Counter& bytes_read = counter("hearth_bytes_read_total",
                                            "Bytes that requests and loads read from storage. "
                                            "Growth without new models means that memory is "
                                            "too small to keep the files.");
  Counters& loads = counters("hearth_loads_total",
                             "Loads of a model's weights. More than a few a day for one model "
                             "means that it does not stay.");
  prometheus::Counter& worker_deaths =
      counter("hearth_worker_deaths_total",
              "Worker processes that ended unasked. Any growth deserves a look.");
  prometheus::Counter& worker_restarts =
      counter("hearth_worker_restarts_total", "Workers started in place of one that had ended.");
  prometheus::Counter& cancelled = counter(
      "hearth_requests_cancelled_total", "Requests whose client went away before the reply's end.");
  prometheus::Counter& retried =
      counter("hearth_requests_retried_total",
              "Requests begun again after their worker had ended; their clients saw only a delay.");
  prometheus::Counter& rejected = counter("hearth_queue_rejected_total",
                                          "Requests refused because a model's queue was full. "
                                          "Growth means more load than the machine can "
                                          "serve.");
  prometheus::Counter& content_hashed =
      counter("hearth_content_hashed_bytes_total",
              "Bytes of models' files that were read to learn or to check what they hold.");
  prometheus::Counter& rotten =
      counter("hearth_content_rotten_total",
              "Models found to hold other bytes than they did, though nobody wrote to them. More "
              "than one points at the disk, or at the memory.");
  Counters& hollow_ended =
      counters("hearth_hollow_workers_ended_total",
               "Workers without weights that were ended to have their memory back, and whether "
               "another took their place at once: `replaced`, or `not_worth_keeping`.");
  Counters& levels_moved =
      counters("hearth_moves_total",
               "Layers of models that went one level down or up, by the level that they went "
               "to and the cause: `pressure`, `evicted_for`, `protected`, `prewarm`, `idle` or "
               "`asked`.");
  Counters& auth_failures = counters("hearth_auth_failures_total",
                                     "Requests refused for their key, by what was wrong with it. "
                                     "Growth means a client with an old "
                                     "key, or somebody who tries.");
  Counters& prefix_hits = counters("hearth_prefix_hit_tokens_total",
                                   "Prompt tokens that came from earlier prompts, by where their "
                                   "state was: live cells, memory or disk.");
  prometheus::Counter& prefix_missed =
      counter("hearth_prefix_missed_tokens_total",
              "Tokens of prompts that may use earlier ones, and had to be evaluated all the same. "
              "New text is among them.");
  Counters& prefix_evicted =
      counters("hearth_prefix_evicted_blocks_total",
               "Blocks of prompt state deleted to make room for others. Steady growth together "
               "with prefix-cold replies means that the budget is below what is used.");
  Counters& prefix_refused =
      counters("hearth_prefix_refused_blocks_total",
               "Stored blocks that could not be used, and were dropped. Any growth of `checksum` "
               "points at the disk, or at the memory.");
  prometheus::Counter& prefix_saved =
      counter("hearth_prefix_saved_seconds_total",
              "Prefill time saved by restored state, at the rates measured here.");
  prometheus::Counter& prefix_written =
      counter("hearth_prefix_written_bytes_total", "Prompt state written to disk.");
  Gauges& prefix_bytes = gauges("hearth_prefix_bytes", "Prompt state kept beyond live cells.");
  Gauges& prefix_blocks = gauges("hearth_prefix_blocks", "The same in blocks of 64 tokens.");
  Gauges& prefix_rate = gauges("hearth_prefix_restore_bytes_per_second",
                               "How fast prompt state was last brought back; absent until it was.");
  std::optional<Bytes> prefix_written_today{};  // as of the last look

  Gauges& queue_depth =
      gauges("hearth_queue_depth", "Requests that wait for a place in the model right now.");
  Gauges& active = gauges("hearth_active_requests", "Requests that the model works on right now.");
  Gauges& layer_bytes = gauges(
      "hearth_layer_bytes", "What each cache layer holds for the model, as it was last observed.");
  Gauges& layer_ratio =
      gauges("hearth_layer_ratio",
             "The same as a part of what the layer can hold for it: 0 cold, 1 warm.");
  prometheus::Gauge& subscribers =
      gauges("hearth_event_subscribers", "Clients that listen to live events right now.").Add({});
  Counters& warnings = counters(
      "hearth_log_warnings_total",
      "Warnings and errors in the log, by event. The log line beside it says what happened.");
  Gauges& build = gauges("hearth_build_info", "Always 1; its labels say what is running.");
};

Metrics::Metrics(const BuildInfo& build) : families_{std::make_unique<Families>()} {
  families_->build.Add({{"version", build.version}, {"engine", build.engine}}).Set(1);
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
  Families& f = *families_;
  const std::string klass{report.response_class ? name_of(*report.response_class) : "none"};
  f.requests
      .Add({{"model", label(report.model)},
            {"api", report.api},
            {"class", klass},
            {"outcome", std::string{name_of(report.outcome)}}})
      .Increment();
  if (report.outcome == Outcome::kCancelled) f.cancelled.Increment();
  observe_stages(report.timings);
  if (!report.timings.shared) f.bytes_read.Increment(count_of(report.bytes_read));
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
  observe_prefix(report);
}

void Metrics::observe_prefix(const RequestReport& report) {
  if (!report.prefix) return;
  Families& f = *families_;
  f.prefix_hits.Add({{"tier", "live"}}).Increment(report.prefix->live);
  f.prefix_hits.Add({{"tier", "memory"}}).Increment(report.prefix->memory);
  f.prefix_hits.Add({{"tier", "disk"}}).Increment(report.prefix->disk);
  f.prefix_missed.Increment(std::max(0, report.prompt_tokens - report.cached_tokens));
}

void Metrics::observe_stages(const Timings& timings) {
  for (int i = 0; i <= static_cast<int>(StageKind::kDecode); ++i) {
    const auto kind = static_cast<StageKind>(i);
    if (!timings.has(kind)) continue;
    families_->stage.Add({{"stage", std::string{name_of(kind)}}}, stage_buckets())
        .Observe(seconds_of(timings.time_in({kind})));
  }
}

void Metrics::read_outside_requests(Bytes bytes) {
  families_->bytes_read.Increment(count_of(bytes));
}
void Metrics::model_loaded(const std::string& model) {
  families_->loads.Add({{"model", label(model)}}).Increment();
}
void Metrics::forecast_met(std::string_view start_class, double error) {
  families_->forecast_error.Add({{"class", std::string{start_class}}}, error_buckets())
      .Observe(std::abs(error));
}
void Metrics::auth_failed(std::string_view reason) {
  families_->auth_failures.Add({{"reason", std::string{reason}}}).Increment();
}
void Metrics::level_moved(std::string_view layer, std::string_view to, std::string_view cause) {
  families_->levels_moved
      .Add({{"layer", std::string{layer}}, {"to", std::string{to}}, {"cause", std::string{cause}}})
      .Increment();
}
void Metrics::hollow_worker_ended(std::string_view why) {
  families_->hollow_ended.Add({{"reason", std::string{why}}}).Increment();
}
void Metrics::worker_died() { families_->worker_deaths.Increment(); }
void Metrics::worker_restarted() { families_->worker_restarts.Increment(); }
void Metrics::request_retried() { families_->retried.Increment(); }
void Metrics::queue_rejected() { families_->rejected.Increment(); }
void Metrics::content_hashed(Bytes bytes) { families_->content_hashed.Increment(count_of(bytes)); }
void Metrics::rotten_found() { families_->rotten.Increment(); }

void Metrics::set_queue_depth(const std::string& model, std::int64_t waiting) {
  families_->queue_depth.Add({{"model", label(model)}}).Set(static_cast<double>(waiting));
}
void Metrics::set_active_requests(const std::string& model, std::int64_t active) {
  families_->active.Add({{"model", label(model)}}).Set(static_cast<double>(active));
}
void Metrics::set_layer(const std::string& model, const LayerSnapshot& snapshot) {
  const prometheus::Labels labels{{"model", label(model)}, {"layer", snapshot.layer}};
  families_->layer_bytes.Add(labels).Set(count_of(snapshot.bytes));
  families_->layer_ratio.Add(labels).Set(snapshot.fraction);
}
void Metrics::set_event_subscribers(std::int64_t subscribers) {
  families_->subscribers.Set(static_cast<double>(subscribers));
}

void Metrics::set_prefix(const PrefixFigures& figures) {
  Families& f = *families_;
  const auto set_tier = [&f](const char* name, const PrefixFigures::Tier& tier) {
    const prometheus::Labels labels{{"tier", name}};
    f.prefix_bytes.Add(labels).Set(count_of(tier.bytes));
    f.prefix_blocks.Add(labels).Set(static_cast<double>(tier.blocks));
    raise_to(f.prefix_evicted.Add(labels), static_cast<double>(tier.evicted));
    if (tier.bytes_per_second > 0) f.prefix_rate.Add(labels).Set(tier.bytes_per_second);
  };
  set_tier("memory", figures.memory);
  set_tier("disk", figures.disk);
  for (const auto& [reason, blocks] : figures.refused) {
    raise_to(f.prefix_refused.Add({{"reason", reason}}), static_cast<double>(blocks));
  }
  raise_to(f.prefix_saved, figures.saved_seconds);
  const Bytes now = figures.written_today;
  const Bytes before = f.prefix_written_today.value_or(now);
  f.prefix_written.Increment(count_of(now >= before ? now - before : now));
  f.prefix_written_today = now;
}

void Metrics::forget_model(const std::string& model) {
  Families& f = *families_;
  if (!f.models.contains(model)) return;
  // Add() finds what is there, and what it would make anew goes at once.
  for (Gauges* family : {&f.queue_depth, &f.active}) {
    family->Remove(&family->Add({{"model", model}}));
  }
  for (Gauges* family : {&f.layer_bytes, &f.layer_ratio}) {
    for (const char* layer : {"artifact", "pages", "weights", "compiled", "prefix"}) {
      family->Remove(&family->Add({{"model", model}, {"layer", layer}}));
    }
  }
}

void Metrics::count_log_warnings() {
  for (const auto& [event, count] : log::counts()) {
    raise_to(families_->warnings.Add({{"event", event}}), static_cast<double>(count));
  }
}

std::string Metrics::text() {
  count_log_warnings();
  return prometheus::TextSerializer{}.Serialize(families_->registry.Collect());
}

}  // namespace hearth
