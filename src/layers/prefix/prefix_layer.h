// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layers/layer.h"
#include "layers/weights/workers.h"

namespace hearth {

// Prompt state that can be used again: so far the cells of a resident worker. Level "live" with the
// tokens they hold in `detail` and the cells' bytes, else "none". Belongs to the loop.
class PrefixLayer : public Layer {
 public:
  explicit PrefixLayer(const Workers& workers) : workers_{workers} {}

  LayerState observe(const Subject& subject) const override;
  // Never known: what there is to restore depends on the prompt.
  Estimate cost_to_warm(const Subject& subject) const override;

  // Errors: kUnsupported, unless it is live: only a prompt fills it.
  Task<Result<LayerState>> warm(Subject subject, Target target, Progress& progress) override;
  // Nothing to give back when nothing is live. Errors: kUnsupported: cells go with the weights.
  Task<Result<Bytes>> cool(Subject subject, Target target) override;

 private:
  const Workers& workers_;
};

}  // namespace hearth
