// SPDX-License-Identifier: Apache-2.0
#include "worker/reference_verb.h"

#include <fmt/format.h>

#include "engine/backends.h"
#include "engine/engine_log.h"
#include "engine/reference.h"

namespace hearth::worker {

int print_reference(const std::string& path, const std::string& prompt, int count) {
  engine::route_engine_log();
  if (const auto backends = engine::load_backends(); !backends) {
    fmt::print(stderr, "{}\n", backends.error().message());
    return 1;
  }
  const auto text = engine::greedy_reference({path}, prompt, count);
  if (!text) {
    fmt::print(stderr, "{}\n", text.error().message());
    return 1;
  }
  fmt::print("{}", *text);
  return 0;
}

}  // namespace hearth::worker
