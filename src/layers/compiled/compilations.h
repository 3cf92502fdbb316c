// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/async.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "layers/layer.h"

namespace hearth {

// Why a start had to compute what could have been kept.
enum class CompiledCause {
  kFirst,     // nothing was stored, or nobody knows of it any more
  kEngine,    // what was stored belonged to another build of the engine,
  kDriver,    // to another driver,
  kHardware,  // to another processor or device,
  kModel,     // to another version of the model,
  kShape,     // to another choice of weights; or a request had a shape that had not run yet
};

std::string_view code_of(CompiledCause cause);  // "compiled.first", ...

// What is kept on disk of what starts compute, as the compiled layer needs it. Belongs to the loop.
class Compilations {
 public:
  struct State {
    Bytes stored;                   // for this model, and fit for it as far as is known
    std::optional<Bytes> possible;  // what could be; unknown before the model has had a worker
    Bytes drivers;                  // what drivers keep for its devices, shared with other models
    CompiledCause cause = CompiledCause::kFirst;  // why the last load had to compute
    std::string note;                             // what was refused, or not stored, and why
    std::optional<Duration> time;                 // to compute it, once measured
  };

  virtual ~Compilations() = default;

  virtual State state(const Subject& subject) const = 0;

  // What drivers keep for its devices, looked at now; nothing for a model without one.
  virtual Task<Bytes> measure_drivers(Subject subject) = 0;

  // Stores what the resident model has computed; idempotent. Errors: kUnsupported (the layer is
  // off), kNoSpace, kUnavailable, kConflict (it went away meanwhile).
  virtual Task<Result<>> build(Subject subject) = 0;

  // Deletes what is kept for it, that of its drivers too; the bytes given back. Errors:
  // kUnavailable.
  virtual Task<Result<Bytes>> drop(Subject subject) = 0;
};

}  // namespace hearth
