// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/session.h"

// The verbs about models. Each prints its result, or the API's JSON with --json, and returns the
// exit code of the process.
namespace hearth::cli {

int list_models(const Session& session);

// How warm each model is now; those that hold nothing only with kAll.
enum class Show { kWarm, kAll };
int list_levels(const Session& session, Show show);

int show_model(const Session& session, const std::string& name);
int load_model(const Session& session, const std::string& name);
int unload_model(const Session& session, const std::string& name);
int remove_model(const Session& session, const std::string& name);

// One layer of one model.
int warm_layer(const Session& session, const std::string& name, const std::string& layer);
int cool_layer(const Session& session, const std::string& name, const std::string& layer);

// By reference: the file stays where it is. An empty name is made from the file's.
int import_model(const Session& session, const std::string& path, const std::string& name);

// The client's version, and the server's where one answers.
int show_version(const Session& session);

}  // namespace hearth::cli
