// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/event_loop.h"
#include "front/layer_set.h"
#include "front/model_host.h"
#include "layers/artifact/catalogue.h"
#include "policy/predictor.h"
#include "timeline/avoided.h"
#include "timeline/metrics.h"

namespace hearth::front {

// What a model is that nobody has asked for yet: no worker, and nobody has looked at its pages.
StartState untouched_state(const Artifact& artifact);

// One model's starts: forecasts from its host and its layers as they are, and what became of them
// for the predictor to learn from. Belongs to the loop.
class Starts {
 public:
  struct World {
    EventLoop& loop;
    LayerSet& layers;
    Metrics& metrics;
    Predictor& predictor;
    int places = 1;  // of the host's admission
  };
  Starts(World world, const ModelHost& host) : world_{world}, host_{host} {}

  // As things are now. `ahead` of it is for one that comes to the end of the queue.
  Outlook outlook(const Artifact& artifact) const;
  // If it stood there: a hollow worker without pages, one with all of them, or resident weights.
  enum class Stand { kCold, kPages, kResident };
  Outlook outlook_at(const Artifact& artifact, Stand stand) const;
  // How much longer the coldest of these takes than the warmest.
  Duration cold_time(const Artifact& artifact) const;
  // Of weights that must come out of pages in memory, whatever is so now; nullopt while that would
  // be a guess.
  std::optional<Duration> load_time(const Artifact& artifact) const;
  std::optional<Duration> repack_time() const;
  int layers(const Artifact& artifact) const;

  // After each change of the host: takes in a spawn, or that a load has begun.
  void note_host(const Artifact& artifact);
  // Once for each load.
  void note_load(const LoadRecord& load);
  // The prompt's evaluation, where that says something about prompts evaluated alone and warm.
  void note_prefill(const Artifact& artifact, const wire::StartedMessage& started);
  // What became of a forecast. The one of a first token counts in the metrics.
  void note_first_token(const Outlook& forecast, int fresh_tokens, Duration time);
  void note_loaded(const Outlook& forecast, Duration time);
  void note_service(Duration time);

  // Until a place is free, about; nullopt before the first reply.
  std::optional<Duration> time_to_place() const;
  std::vector<double> errors() const { return world_.predictor.errors(host_.model().artifact); }

 private:
  StartState state(const Artifact& artifact) const;
  void add_pages(StartState& state, const Artifact& artifact) const;
  Duration load_left() const;
  Duration ahead() const;

  World world_;
  const ModelHost& host_;
  std::uint64_t spawns_seen_ = 0;
  bool loading_seen_ = false;
  TimePoint load_begun_;
  std::optional<Outlook> load_forecast_;
};

}  // namespace hearth::front
