// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace hearth {

// Makes families, and collects them. Inside Metrics only.
class FamilyMaker {
 public:
  using Counters = prometheus::Family<prometheus::Counter>;
  using Gauges = prometheus::Family<prometheus::Gauge>;
  using Histograms = prometheus::Family<prometheus::Histogram>;

  Counters& counters(const char* name, const char* help) {
    described_.push_back({name, help, prometheus::MetricType::Counter, {}});
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
  }
  // Without labels: it shows from the start, at zero.
  prometheus::Counter& counter(const char* name, const char* help) {
    return counters(name, help).Add({});
  }
  Gauges& gauges(const char* name, const char* help) {
    described_.push_back({name, help, prometheus::MetricType::Gauge, {}});
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry_);
  }
  Histograms& histograms(const char* name, const char* help) {
    described_.push_back({name, help, prometheus::MetricType::Histogram, {}});
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_);
  }

  // All families, those without a sample included, so that what exists can be seen in any scrape.
  std::vector<prometheus::MetricFamily> collect() const;

 private:
  prometheus::Registry registry_;
  std::vector<prometheus::MetricFamily> described_;
};

// A gauge whose label sets come and go.
class ShiftingGauges {
 public:
  explicit ShiftingGauges(FamilyMaker::Gauges& family) : family_{family} {}

  // Leaves exactly these.
  void replace(const std::map<prometheus::Labels, double>& values);

 private:
  FamilyMaker::Gauges& family_;
  std::set<prometheus::Labels> shown_;
};

// The groups of families below say in their help texts what each is for. Where vLLM has a
// metric of the same meaning, ours has its name, with hearth_ in place of "vllm:".
struct RequestFamilies {
  FamilyMaker& make;

  FamilyMaker::Counters& requests =
      make.counters("hearth_requests_total",
                    "Requests that have ended. A growing share of classes other than warm means "
                    "that models do not stay where they are used.");
  FamilyMaker::Histograms& ttft =
      make.histograms("hearth_time_to_first_token_seconds",
                      "From a request's first byte to its first token, by class: compare classes, "
                      "not one average.");
  FamilyMaker::Histograms& total =
      make.histograms("hearth_e2e_request_latency_seconds",
                      "From a request's first byte to its reply's last byte, by class, of replies "
                      "that went well.");
  FamilyMaker::Histograms& stage =
      make.histograms("hearth_stage_seconds",
                      "Time of each request in each stage that it had, by the request's class. "
                      "Stages overlap, so they do not add up to the total.");
  FamilyMaker::Histograms& queue =
      make.histograms("hearth_request_queue_time_seconds",
                      "Time that replies waited for their turn, those that did not wait included.");
  FamilyMaker::Histograms& prefill =
      make.histograms("hearth_request_prefill_time_seconds",
                      "Time that replies evaluated what was new in prompts.");
  FamilyMaker::Histograms& decode = make.histograms("hearth_request_decode_time_seconds",
                                                    "From a reply's first token to its last.");
  FamilyMaker::Histograms& per_token =
      make.histograms("hearth_request_time_per_output_token_seconds",
                      "Decode time of a reply over its tokens after the first.");
  FamilyMaker::Histograms& forecast_error = make.histograms(
      "hearth_predictor_error_ratio",
      "How far the forecast time to first token lay off, as a part of the time that it then took, "
      "by what the model had to do for it. Half of all should be below 0.2.");
  prometheus::Counter& prompt_tokens =
      make.counter("hearth_prompt_tokens_total", "Tokens of all prompts, cached ones included.");
  prometheus::Counter& cached_tokens =
      make.counter("hearth_prompt_tokens_cached_total", "Prompt tokens whose state was reused.");
  prometheus::Counter& generated_tokens =
      make.counter("hearth_generation_tokens_total", "Tokens generated.");
  prometheus::Counter& cancelled = make.counter(
      "hearth_requests_cancelled_total", "Requests whose client went away before the reply's end.");
  prometheus::Counter& retried =
      make.counter("hearth_requests_retried_total",
                   "Requests begun again after their worker had ended; their clients saw only a "
                   "delay.");
  prometheus::Counter& rejected = make.counter("hearth_queue_rejected_total",
                                               "Requests refused because a model's queue was full. "
                                               "Growth means more load than the machine can "
                                               "serve.");
};

struct EventFamilies {
  FamilyMaker& make;

  prometheus::Counter& bytes_read = make.counter("hearth_bytes_read_total",
                                                 "Bytes that requests and loads read from storage. "
                                                 "Growth without new models means that memory is "
                                                 "too small to keep the files.");
  FamilyMaker::Counters& loads = make.counters("hearth_loads_total",
                                               "Loads of a model's weights. More than a few a day "
                                               "for one model means that it does not stay.");
  prometheus::Counter& worker_deaths =
      make.counter("hearth_worker_deaths_total",
                   "Worker processes that ended unasked. Any growth deserves a look.");
  prometheus::Counter& worker_restarts = make.counter(
      "hearth_worker_restarts_total", "Workers started in place of one that had ended.");
  prometheus::Counter& content_hashed =
      make.counter("hearth_content_hashed_bytes_total",
                   "Bytes of models' files that were read to learn or to check what they hold.");
  prometheus::Counter& rotten =
      make.counter("hearth_content_rotten_total",
                   "Models found to hold other bytes than they did, though nobody wrote to them. "
                   "More than one points at the disk, or at the memory.");
  FamilyMaker::Counters& hollow_ended = make.counters(
      "hearth_hollow_workers_ended_total",
      "Workers without weights that were ended to have their memory back, and whether another took "
      "their place at once: `replaced`, or `not_worth_keeping`.");
  FamilyMaker::Counters& levels_moved = make.counters(
      "hearth_moves_total",
      "Layers of models that went one level down or up, by the level that they went to and the "
      "cause: `pressure`, `evicted_for`, `protected`, `prewarm`, `idle` or `asked`.");
  FamilyMaker::Counters& auth_failures =
      make.counters("hearth_auth_failures_total",
                    "Requests refused for their key, by what was wrong with it. Growth means a "
                    "client with an old key, or somebody who tries.");
  FamilyMaker::Counters& http = make.counters(
      "hearth_http_requests_total",
      "HTTP requests that were answered, by route and status. Route `other`: there is none at "
      "their path, or they could not be read. Status 499: the client left before an answer.");
  FamilyMaker::Histograms& http_took =
      make.histograms("hearth_http_request_duration_seconds",
                      "From a request's first byte to its answer's last, by route; of live events, "
                      "how long somebody listened.");
  FamilyMaker::Counters& warnings = make.counters(
      "hearth_log_warnings_total",
      "Warnings and errors in the log, by event. The log line beside it says what happened.");
};

struct PrefixFamilies {
  FamilyMaker& make;

  FamilyMaker::Counters& hits = make.counters(
      "hearth_prefix_cache_hits_total",
      "Prompt tokens that came from earlier prompts, by where their state was: live cells, memory "
      "or disk. Over the queries, this is the hit rate.");
  prometheus::Counter& queries =
      make.counter("hearth_prefix_cache_queries_total",
                   "Tokens of prompts that may use earlier ones. New text is among them.");
  FamilyMaker::Counters& evicted = make.counters(
      "hearth_prefix_evicted_blocks_total",
      "Blocks of prompt state deleted to make room for others. Steady growth together with "
      "prefix-cold replies means that the budget is below what is used.");
  FamilyMaker::Counters& refused =
      make.counters("hearth_prefix_refused_blocks_total",
                    "Stored blocks that could not be used, and were dropped. Any growth of "
                    "`checksum` points at the disk, or at the memory.");
  prometheus::Counter& saved =
      make.counter("hearth_prefix_saved_seconds_total",
                   "Prefill time saved by restored state, at the rates measured here.");
  prometheus::Counter& written =
      make.counter("hearth_prefix_written_bytes_total", "Prompt state written to disk.");
  FamilyMaker::Gauges& bytes =
      make.gauges("hearth_prefix_bytes", "Prompt state kept beyond live cells.");
  FamilyMaker::Gauges& blocks =
      make.gauges("hearth_prefix_blocks", "The same in blocks of 64 tokens.");
  FamilyMaker::Gauges& rate =
      make.gauges("hearth_prefix_restore_bytes_per_second",
                  "How fast prompt state was last brought back; absent until it was.");
  std::optional<Bytes> written_today{};  // as of the last look
};

struct ModelFamilies {
  FamilyMaker& make;

  FamilyMaker::Gauges& waiting = make.gauges(
      "hearth_num_requests_waiting", "Requests that wait for a place in the model right now.");
  FamilyMaker::Gauges& running =
      make.gauges("hearth_num_requests_running", "Requests that the model works on right now.");
  FamilyMaker::Gauges& kv_usage =
      make.gauges("hearth_kv_cache_usage_perc",
                  "Part of a resident model's cells that hold prompts and replies, as it was last "
                  "told: 1 is full.");
  FamilyMaker::Gauges& layer_bytes = make.gauges(
      "hearth_layer_bytes", "What each cache layer holds for the model, as it was last observed.");
  FamilyMaker::Gauges& layer_ratio =
      make.gauges("hearth_layer_ratio",
                  "The same as a part of what the layer can hold for it: 0 cold, 1 warm.");
  FamilyMaker::Gauges& layer_level =
      make.gauges("hearth_layer_level",
                  "Always 1; its label `level` says where the layer stands for the model.");
  std::map<std::pair<std::string, std::string>, std::string> levels{};  // as shown
};

struct ServerFamilies {
  FamilyMaker& make;

  FamilyMaker::Gauges& memory_limit = make.gauges(
      "hearth_memory_limit_bytes", "How much memory models may have; absent while not known.");
  FamilyMaker::Gauges& memory_promised = make.gauges(
      "hearth_memory_promised_bytes", "Promised to loads under way, and not taken yet.");
  ShiftingGauges memory_held{make.gauges(
      "hearth_memory_held_bytes",
      "Memory that is held, by what for and for which model. Close to the limit is well, unless "
      "hearth_moves_total grows with it.")};
  prometheus::Gauge& subscribers =
      make.gauges("hearth_event_subscribers", "Clients that listen to live events right now.")
          .Add({});
  FamilyMaker::Gauges& build =
      make.gauges("hearth_build_info", "Always 1; its labels say what is running.");
};

struct TraceFamilies {
  FamilyMaker& make;

  FamilyMaker::Counters& requests = make.counters(
      "hearth_traces_total",
      "Requests whose traces were to be sent, by what came of them: `sent`, `dropped` (too many "
      "waited for a collector) or `refused` (by the collector).");
  prometheus::Counter& rejected =
      make.counter("hearth_trace_spans_rejected_total",
                   "Spans that a collector left out of what it took; the log has its reason.");
  prometheus::Counter& failures =
      make.counter("hearth_trace_send_failures_total",
                   "Attempts to send traces that failed and will be made again. Steady growth "
                   "means that the collector is down.");
  prometheus::Gauge& waiting =
      make.gauges("hearth_traces_waiting", "Requests whose traces wait to be sent right now.")
          .Add({});
};

}  // namespace hearth
