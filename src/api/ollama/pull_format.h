// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/call.h"
#include "api/transfers.h"

namespace hearth::api::ollama {

// The lines by which Ollama's clients follow a pull: "pulling manifest", a bar for each digest,
// "verifying sha256 digest", "writing manifest", "success". Each of the fixed ones comes once, in
// this order, also where the work behind it took no time.
std::unique_ptr<TransferFormat> pull_format(const Call& call);

// {"status": ...}
std::string status_json(std::string_view status);

}  // namespace hearth::api::ollama
