// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hearth::engine {

// What the process computes with.
struct Backends {
  std::string cpu_variant;           // "zen4"; empty when the engine was built for one CPU only
  std::vector<std::string> devices;  // GPUs, by the name that their driver gives; possibly none
};

// Loads the CPU variant that suits this machine best and every GPU backend that lies in the
// directory of the engine's libraries. Once per process; may run beside Vocabulary::open. `variant`
// is the CPU variant that was the best one before: where this machine can run it, it is loaded
// without a look at the others. Errors: kInternal when not even a CPU backend is there.
Result<Backends> load_backends(const std::string& variant = {});

// As the libraries call themselves: "llama.cpp 0.5.0-dev (0ad4a86)".
std::string engine_name();

}  // namespace hearth::engine
