// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/backends.h"

namespace hearth::engine {

// What compiled state depends on besides the model: digests in hexadecimal, each of which changes
// when its cause does.
struct Platform {
  std::string engine;    // SHA-256 over the engine's libraries in this process
  std::string driver;    // of the GPUs; empty without one
  std::string hardware;  // SHA-256 over the CPU's features and the devices
};

// Reads the libraries' files once per process; some milliseconds. Needs the backends.
Platform platform_of(const Backends& backends);

}  // namespace hearth::engine
