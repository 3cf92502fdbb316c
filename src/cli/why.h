// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/session.h"

namespace hearth::cli {

// Where a request's time went. An empty id means the last request. Returns the process's exit code.
int why(const Session& session, const std::string& id);

}  // namespace hearth::cli
