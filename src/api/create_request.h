// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/fields.h"
#include "front/transfer.h"

namespace hearth::api {

// Whether a request may name files of this machine.
enum class Paths { kAllowed, kRefused };

// What /api/create and /api/hearth/create have in common: all members but those that say how the
// answer comes. What it is made of is one of `from`, `files` and, where allowed, `path`. Parameters
// are those of Ollama's `options`: unknown names are refused, those without an effect here are kept
// and shown.
front::CreateRequest read_create(const Fields& body, Paths paths);

}  // namespace hearth::api
