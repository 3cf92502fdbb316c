// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace hearth {

// How many bytes of a file's beginning tell what it is.
constexpr std::size_t kTellingBytes = 512;

// Why a file that begins so is no model for us: what it is instead, and what to do. Nothing for
// GGUF of a version and byte order that we read.
//
// kUnsupported: it is sound, but of another format. kCorrupt: it is not what it was meant to be.
std::optional<Error> refusal_of(std::string_view beginning);

}  // namespace hearth
