// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layers/layer.h"
#include "layers/prefix/stored_prefixes.h"
#include "layers/weights/workers.h"

namespace hearth {

// Prompt state that can be used again. Level "live" while a worker's cells hold some, else "in RAM"
// or "on disk", else "none"; `detail` has the tokens at each level, `bytes` what the named level
// takes. Belongs to the loop.
class PrefixLayer : public Layer {
 public:
  explicit PrefixLayer(const Workers& workers,
                       StoredPrefixes& stored = NoStoredPrefixes::instance())
      : workers_{workers}, stored_{stored} {}

  LayerState observe(const Subject& subject) const override;
  // Never known: what there is to restore depends on the prompt.
  Estimate cost_to_warm(const Subject& subject) const override;

  // Whatever is kept comes back by itself with the prompt that needs it. Errors: kUnsupported,
  // where nothing is: only a prompt fills it.
  Task<Result<LayerState>> warm(Subject subject, Target target, Progress& progress) override;

  // Target "memory" or "on disk": what is in memory goes to disk. Any other: all that is kept is
  // deleted. Live cells stay in either case; they go with the weights. Errors: kNoSpace (to disk),
  // kUnavailable.
  Task<Result<Bytes>> cool(Subject subject, Target target) override;

 private:
  const Workers& workers_;
  StoredPrefixes& stored_;
};

}  // namespace hearth
