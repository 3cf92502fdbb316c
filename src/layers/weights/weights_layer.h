// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "layers/weights/workers.h"

namespace hearth {

// Why weights are not resident.
enum class WeightsCause {
  kFirstUse,    // they have not been since the server started
  kIdle,        // a keep_alive that somebody set ran out
  kAsked,       // cool(), unload or stop
  kEvictedFor,  // another model needed the memory
  kWorkerDied,
  kOptions,  // they are or were, but with load options that do not suffice
};

// "weights.first_use", ...
std::string_view code_of(WeightsCause cause);

// The weights in the workers' memory. Remembers how long loads take and why weights went. Belongs
// to the loop; `workers` and `clock` outlive it.
class WeightsLayer : public Layer {
 public:
  WeightsLayer(Workers& workers, const Clock& clock) : workers_{workers}, clock_{clock} {}

  // For whoever took the weights away, or saw them go.
  void note_given_back(const Subject& subject, WeightsCause cause);
  // For a load that did not go through warm().
  void note_loaded(const Subject& subject, Duration length);

  // Why a load is needed now; what it says of resident weights means nothing.
  WeightsCause cause(const Subject& subject) const;

  // Levels: "none", "hollow", "loading" with its share, "resident".
  LayerState observe(const Subject& subject) const override;
  // From the last load of the same model; of a load under way, what remains.
  Estimate cost_to_warm(const Subject& subject) const override;

  // Errors: those of Workers::load().
  Task<Result<LayerState>> warm(Subject subject, Target target, Progress& progress) override;
  // Errors: those of Workers::unload().
  Task<Result<Bytes>> cool(Subject subject, Target target) override;

 private:
  struct Known {
    std::optional<Duration> load;
    Bytes size;
    WeightsCause cause = WeightsCause::kFirstUse;
  };
  using ByOptions = std::unordered_map<std::string, Known>;
  const Known* known(const Subject& subject) const;

  Workers& workers_;
  const Clock& clock_;
  std::unordered_map<std::string, ByOptions> known_;  // by artifact
};

}  // namespace hearth
