// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/files.h"
#include "base/result.h"

namespace hearth::front {

// The whole of a regular file, if it is no larger than `most`. Blocks. Errors: kNotFound,
// kUnavailable; kInvalid (it is something else, or larger).
Result<std::string> read_text_file(const Files& files, const std::string& path, Bytes most);

}  // namespace hearth::front
