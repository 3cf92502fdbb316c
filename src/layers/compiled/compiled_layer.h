// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "layers/compiled/compilations.h"
#include "layers/layer.h"
#include "layers/weights/workers.h"

namespace hearth {

// What a start computes and can be kept: on a CPU the repacked layout of the weights, on a GPU what
// its driver compiled. "live" while resident weights are in that form, "stored" while only files
// hold it, else "none". Belongs to the loop.
class CompiledLayer : public Layer {
 public:
  CompiledLayer(Workers& workers, Compilations& compilations)
      : workers_{workers}, compilations_{compilations} {}

  LayerState observe(const Subject& subject) const override;
  // What the model's next start computes; known once it has been measured.
  Estimate cost_to_warm(const Subject& subject) const override;

  // Loads the model where it is not resident, and stores what that computed. A model of which
  // nothing can be stored says so in the state's detail.
  Task<Result<LayerState>> warm(Subject subject, Target target, Progress& progress) override;

  // Deletes the files. What is live goes with the weights.
  Task<Result<Bytes>> cool(Subject subject, Target target) override;

  // See Compilations: why the last load had to compute, and how long that takes.
  CompiledCause cause(const Subject& subject) const { return compilations_.state(subject).cause; }
  Task<Bytes> measure_drivers(Subject subject) const {
    return compilations_.measure_drivers(std::move(subject));
  }
  std::optional<Duration> time(const Subject& subject) const {
    return compilations_.state(subject).time;
  }

 private:
  Workers& workers_;
  Compilations& compilations_;
};

}  // namespace hearth
