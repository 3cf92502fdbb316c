// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace hearth {

// How warm one cache layer of one model was at one moment.
struct LayerSnapshot {
  std::string layer{};    // "artifact", "pages", "weights", "compiled", "prefix"
  std::string level{};    // on the layer's own scale: "absent", "resident", "hollow", ...
  double fraction = 0.0;  // of what this layer can hold for the model, 0 to 1
  Bytes bytes{};          // held
  Bytes total{};          // what fraction 1 would be
  std::string detail{};   // for people; may be empty
};

// The state that a request met on arrival, before it changed anything.
struct Before {
  LayerSnapshot artifact{.layer = "artifact", .level = "absent"};
  LayerSnapshot pages{.layer = "pages", .level = "absent"};
  LayerSnapshot weights{.layer = "weights", .level = "none"};
  LayerSnapshot compiled{.layer = "compiled", .level = "none"};
  LayerSnapshot prefix{.layer = "prefix", .level = "none"};

  std::int64_t worker_uptime_ms = 0;  // 0: there was no worker
  Bytes worker_resident{};            // VmRSS
  Bytes worker_anonymous{};           // RssAnon
  Bytes device{};                     // held on GPUs
  double cpu_pressure = 0.0;          // /proc/pressure/cpu, some avg10, percent
  double memory_pressure = 0.0;       // /proc/pressure/memory, likewise
};

}  // namespace hearth
