// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth {

// "sha256-<hex>", as our store and Ollama's name a file by what is in it.
std::string blob_name(std::string_view sha256);
// The digest in the last step of a path that is named so.
std::optional<std::string> digest_in_blob_name(std::string_view path);

// The hexadecimal digits of "sha256:<hex>" or "sha256-<hex>" as clients write it, in lower case;
// nothing for anything else.
std::optional<std::string> parse_sha256(std::string_view digest);

}  // namespace hearth
