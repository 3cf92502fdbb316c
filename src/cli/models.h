// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

// The verbs about models. Each prints its result, or the API's JSON with --json, and returns the
// exit code of the process.
namespace hearth::cli {

int list_models(const Session& session);

// One name a line, aliases too; for completion, so it does not wait for a slow server.
int list_names(const Session& session);

int show_model(const Session& session, const std::string& name);

// Goes on after one that cannot be removed; the exit code tells of it.
int remove_models(const Session& session, const std::vector<std::string>& names);

// `destination` becomes a second name of what `source` stands for.
int copy_model(const Session& session, const std::string& source, const std::string& destination);

// By reference: the file stays where it is. An empty name is made from the file's.
int import_model(const Session& session, const std::string& path, const std::string& name);

// Looks into the other stores and the watched folders now.
int rescan(const Session& session);

// The client's version, and the server's where one answers.
int show_version(const Session& session);

}  // namespace hearth::cli
