// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/sha256.h"

namespace hearth::front {

struct HashOfDigest {
  std::size_t operator()(const Digest& digest) const {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof(hash));
    return hash;
  }
};
template <class T>
using DigestMap = std::unordered_map<Digest, T, HashOfDigest>;

// What hex_of() made; nothing for any other text.
std::optional<Digest> digest_of_hex(std::string_view hex);

}  // namespace hearth::front
