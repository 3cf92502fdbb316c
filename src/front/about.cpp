// SPDX-License-Identifier: Apache-2.0
#include "front/about.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/version.h"
#include "layers/layer.h"

namespace hearth::front {
namespace json = boost::json;
namespace {

// Resident pages, the second figure of /proc/self/statm.
std::int64_t resident_bytes() {
  std::istringstream statm{read_small_file("/proc/self/statm")};
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

std::string about_json(const About& about) {
  json::object layers;
  for (const LayerKind kind : {LayerKind::kArtifact, LayerKind::kPages, LayerKind::kWeights,
                               LayerKind::kCompiled, LayerKind::kPrefix}) {
    layers[name_of(kind)] = about.switches.enabled(kind) ? "on" : "off";
  }
  return json::serialize(json::object{{"name", "hearth"},
                                      {"version", version()},
                                      {"engine", engine_build()},
                                      {"pid", ::getpid()},
                                      {"uptime_ms", about.uptime / std::chrono::milliseconds{1}},
                                      {"resident_bytes", resident_bytes()},
                                      {"models", about.models},
                                      {"requests", about.requests},
                                      {"layers", std::move(layers)},
                                      {"devices", about.devices}});
}

}  // namespace hearth::front
