// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hearth::engine {

// Turns the engine's warnings and errors into our log lines and drops the rest. Once per process,
// before anything else of the engine is called. Thread-safe afterwards.
void route_engine_log();

// The first error that the engine logged since the previous call, which is the one that says most;
// empty when there was none.
std::string take_engine_error();

}  // namespace hearth::engine
