// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layers/layer.h"
#include "layers/weights/workers.h"

namespace hearth {

// What a start computed and could have kept. On a CPU that is the repacked layout of the weights,
// which lives and goes with them: "live" with its bytes while they are resident, else "none".
// Belongs to the loop.
class CompiledLayer : public Layer {
 public:
  explicit CompiledLayer(const Workers& workers) : workers_{workers} {}

  LayerState observe(const Subject& subject) const override;
  // Never known: repacking is a part of the load.
  Estimate cost_to_warm(const Subject& subject) const override;

  // Both answer at once where there is nothing to do. Errors: kUnsupported: warm or cool the
  // weights.
  Task<Result<LayerState>> warm(Subject subject, Target target, Progress& progress) override;
  Task<Result<Bytes>> cool(Subject subject, Target target) override;

 private:
  const Workers& workers_;
};

}  // namespace hearth
