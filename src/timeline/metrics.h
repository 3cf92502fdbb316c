// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "timeline/prefix_figures.h"
#include "timeline/report.h"
#include "timeline/snapshot.h"
#include "timeline/timeline.h"

namespace hearth {

struct BuildInfo {
  std::string version{};
  std::string engine{};
};

// What an operator's monitoring reads: counters, gauges and histograms, all named hearth_*.
// Not thread-safe; belongs to the loop.
//
// A `model` must be a name from the catalogue, never a string that a client sent; beyond kMaxModels
// different ones the rest shares the label "other", so that a scrape stays small.
class Metrics {
 public:
  explicit Metrics(const BuildInfo& build);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Once for each request that has ended, however it ended. Bytes that a joined load read are not
  // counted again for those who joined. Loads and counts are requests with stages, but no replies:
  // no latency and no tokens.
  void observe(const RequestReport& report);

  // A load that no request began (load by hand, at start): its reading is in no report.
  void read_outside_requests(Bytes bytes);
  void model_loaded(const std::string& model);
  void worker_died();
  void worker_restarted();
  // A layer of a model went to the level `to`. All three are of few fixed words.
  void level_moved(std::string_view layer, std::string_view to, std::string_view cause);
  // `why` is "replaced" or "not_worth_keeping".
  void hollow_worker_ended(std::string_view why);
  void request_retried();
  void queue_rejected();
  // Read to learn or check what a model's files hold, outside requests and loads.
  void content_hashed(Bytes bytes);
  void rotten_found();
  // A first token that had been forecast: (forecast - time) / time. `start_class` is one of few
  // fixed words.
  void forecast_met(std::string_view start_class, double error);
  // A request without a key that allows it. `reason` is one of few fixed words.
  void auth_failed(std::string_view reason);

  void set_queue_depth(const std::string& model, std::int64_t waiting);
  void set_active_requests(const std::string& model, std::int64_t active);
  void set_layer(const std::string& model, const LayerSnapshot& snapshot);
  void set_event_subscribers(std::int64_t subscribers);
  // The first call after a start says what had been written today before it: that counts no more.
  void set_prefix(const PrefixFigures& figures);

  // The model left the catalogue: its gauges go, its counters stay.
  void forget_model(const std::string& model);

  // Prometheus' text format 0.0.4. Brings the warnings of the log up to date first.
  std::string text();

  static constexpr int kMaxModels = 256;

 private:
  struct Families;
  std::string label(const std::string& model);
  void observe_stages(const Timings& timings);
  void observe_prefix(const RequestReport& report);
  void count_log_warnings();

  std::unique_ptr<Families> families_;
};

}  // namespace hearth
