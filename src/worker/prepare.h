// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/chat_format.h"
#include "engine/vocabulary.h"
#include "wire/messages.h"
#include "worker/request.h"

namespace hearth::worker {

// What tokenizing needs; nothing of it needs weights.
struct Language {
  const engine::Vocabulary& vocabulary;
  const engine::ChatFormat& format;
  int context_limit;
  bool generates;
};

// Reads the request's payload, renders and tokenizes it, and makes its sampler, stops and parser.
// Returns what to tell the front.
// Errors: kInvalid with the field at fault, kTooLong with both counts, kUnsupported, kCorrupt.
Result<wire::TokenizedMessage> prepare(const Language& language, Request& request);

}  // namespace hearth::worker
