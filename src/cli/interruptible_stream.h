// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/api_client.h"

namespace hearth::cli {

// POST whose answer goes into `feed` as it arrives, until it ends or ^C comes. `feed` is called on
// another thread while this waits, and never after it has returned. Errors: those of the call;
// kCancelled after ^C: then this returns at once, and the connection closes with the next byte that
// comes, or with the process.
Result<> stream_until_interrupt(const ApiClient& api, std::string target, std::string body,
                                std::function<void(std::string_view)> feed);

}  // namespace hearth::cli
