// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/session.h"

namespace hearth::cli {

// Makes a model from another, as a Modelfile says: `file` is its path; "-" is standard input. Paths
// in it are relative to its folder, and must be paths of the server's machine too. Prints the
// result and what has no effect, and returns the exit code.
int create_model(const Session& session, const std::string& name, const std::string& file);

// The Modelfile that would make this model.
int show_modelfile(const Session& session, const std::string& name);

}  // namespace hearth::cli
