// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth {

// The parts of a request's time that have a name, in the order in which a completely cold request
// meets them. Every process stamps its own on the shared monotonic clock; the front merges.
enum class StageKind {
  kQueue,             // waiting for a turn, in the front or in the worker
  kArtifactMetadata,  // reading and checking the model file's header
  kArtifactDownload,
  kArtifactVerify,
  kSpawn,        // starting a worker process up to a parsed vocabulary
  kRead,         // bringing the file's missing pages into memory
  kLoad,         // making weights out of pages
  kCompile,      // repacking, building kernels or pipelines
  kContext,      // allocating KV cells and compute buffers
  kTokenize,     // chat template and tokens
  kRestore,      // copying prefix state back into KV cells
  kPrefill,      // evaluating the prompt's tokens that were in no cache
  kFirstDecode,  // sampling the first token from what prefill left
  kDecode,       // all later tokens, until the last one is out
};

struct Stage {
  StageKind kind = StageKind::kQueue;
  TimePoint start;
  TimePoint end;
  Bytes bytes;  // read from the device (kRead), or copied (kRestore); zero elsewhere

  Duration length() const { return end - start; }
};

// "artifact.metadata", "first_decode", ...
std::string_view name_of(StageKind kind);
std::optional<StageKind> stage_named(std::string_view name);

}  // namespace hearth
