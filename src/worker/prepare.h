// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "wire/messages.h"
#include "worker/language.h"
#include "worker/request.h"

namespace hearth::worker {

// Reads the request's payload, renders and tokenizes it, and makes its sampler, stops and parser
// (not where tokens are only counted). Returns what to tell the front.
// Errors: kInvalid with the field at fault, kTooLong with both counts, kUnsupported, kCorrupt.
Result<wire::TokenizedMessage> prepare(const Language& language, Request& request);

}  // namespace hearth::worker
