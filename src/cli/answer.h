// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>

#include "cli/session.h"

// What the verbs about models share.
namespace hearth::cli {

// The path of one model in the API.
std::string model_target(const std::string& name);

// The answer as it came, or what went wrong; returns the exit code.
int print_json(const Result<std::string>& answer);

// The list in {"models": [...]}; empty where there is none. Errors: as object_of().
Result<boost::json::array> models_of(const Result<std::string>& answer);

}  // namespace hearth::cli
