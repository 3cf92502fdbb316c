// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/session.h"

// The verbs that bring models, and look after their files. Each prints its result, or the API's
// JSON with --json, and returns the exit code of the process.
namespace hearth::cli {

struct PullOptions {
  std::string source{};
  std::string name{};  // empty: as the source says
  bool insecure = false;
  bool detach = false;  // return at once; the server goes on alone
};

// Draws progress on standard error while that is a terminal. ^C pauses: what has arrived is kept.
int pull_model(const Session& session, const PullOptions& options);

// Pulls under way, and those of which parts are kept.
int list_pulls(const Session& session);

// Stops a pull for everybody; its parts stay, or go.
enum class Parts { kKeep, kDrop };
int stop_pull(const Session& session, const std::string& name, Parts parts);

// All models where no name is given. Fails when the content of any is not what it was.
enum class Repair { kNo, kYes };
int verify_models(const Session& session, const std::string& name, Repair repair);

// Lists what nothing needs any more; deletes it with kDelete.
enum class Prune { kShow, kDelete };
int prune(const Session& session, Prune what);

}  // namespace hearth::cli
