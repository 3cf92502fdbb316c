// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace hearth::cli {

// The absolute path of a model's file: `model` itself where it is one, else what the server at
// `host` (--host) says of a model of that name. Errors: kNotFound (neither), kUnsupported (a model
// of several files), kInvalid (`host`).
Result<std::string> model_file(const std::string& model, const std::string& host,
                               const std::string& key);

}  // namespace hearth::cli
