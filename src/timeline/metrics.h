// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "timeline/memory_figures.h"
#include "timeline/prefix_figures.h"
#include "timeline/report.h"
#include "timeline/snapshot.h"
#include "timeline/timeline.h"
#include "timeline/trace_figures.h"

namespace hearth {

struct BuildInfo {
  std::string version{};
  std::string engine{};
};

// One HTTP request that has been answered. `method` and `route` are of the server's own table of
// routes, never what a client sent.
struct HttpAnswer {
  std::string_view method;
  std::string_view route;
  int status = 0;
  std::optional<Duration> took{};  // unset: its beginning is not known
};

// What a model is busy with.
struct RequestsNow {
  std::int64_t waiting = 0;
  std::int64_t running = 0;
  int cells = 0;  // 0: not resident
  int cells_used = 0;
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
  void http_answered(const HttpAnswer& answer);

  void set_requests(const std::string& model, const RequestsNow& now);
  void set_layer(const std::string& model, const LayerSnapshot& snapshot);
  void set_event_subscribers(std::int64_t subscribers);
  // All memories at once; what was held and is in none of them goes.
  void set_memory(const std::vector<MemoryFigures>& memories);
  // The first call after a start says what had been written today before it: that counts no more.
  void set_prefix(const PrefixFigures& figures);
  void set_traces(const TraceFigures& figures);

  // The model left the catalogue: its gauges go, its counters stay.
  void forget_model(const std::string& model);

  // Called by text() before it reads, to bring gauges up to date: they cost nothing in between.
  void before_text(std::function<void()> refresh) { refresh_ = std::move(refresh); }

  // Prometheus' text format 0.0.4. Brings the warnings of the log up to date first.
  std::string text();

  static constexpr int kMaxModels = 256;

 private:
  struct Families;
  std::string label(const std::string& model);
  void observe_stages(const Timings& timings, const std::string& klass);
  void observe_phases(const RequestReport& report);
  void observe_prefix(const RequestReport& report);
  void count_log_warnings();
  void remove_level(std::map<std::string, std::string> labels, const std::string& level);

  std::function<void()> refresh_;
  std::unique_ptr<Families> families_;
};

}  // namespace hearth
