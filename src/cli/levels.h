// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/session.h"

// The verbs about how warm models are. Each prints its result, or the API's JSON with --json, and
// returns the exit code of the process.
namespace hearth::cli {

// How warm each model is now; those that hold nothing only with kAll.
enum class Show { kWarm, kAll };
int list_levels(const Session& session, Show show);

struct WarmingOptions {
  std::string keep_alive{};           // "30m"; empty: the model's own
  std::optional<int> wait_seconds{};  // at most, then it goes on without this command
};

// Both draw progress on standard error while it is a terminal.
int load_model(const Session& session, const std::string& name, const WarmingOptions& options);
int warm_layer(const Session& session, const std::string& name, const std::string& layer,
               const WarmingOptions& options);

int unload_model(const Session& session, const std::string& name);

struct CoolOptions {
  bool preview = false;  // say what it would delete, and what would have to be fetched again
  bool all = false;      // models
  std::string tier{};
  std::string key{};
};
// An empty name only with `all`, which is of the layer prefix, as are `tier` and `key`.
int cool_layer(const Session& session, const std::string& name, const std::string& layer,
               const CoolOptions& options);

// `bytes`: a size as people type it, of pages only; empty: all.
int pin_layer(const Session& session, const std::string& name, const std::string& layer,
              const std::string& bytes);
// An empty layer: all that is pinned.
int unpin_layer(const Session& session, const std::string& name, const std::string& layer);

}  // namespace hearth::cli
