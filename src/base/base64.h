// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace hearth {

// RFC 4648's base64, padded with "=".
std::string base64_of(std::span<const unsigned char> bytes);

// Its base64url, for names and secrets, without padding.
std::string base64url_of(std::span<const unsigned char> bytes);

}  // namespace hearth
