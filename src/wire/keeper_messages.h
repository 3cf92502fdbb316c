// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hearth::wire {

// What the keeper is to lock into memory, in this order. The files come along as descriptors.
struct KeepMessage {
  struct Piece {
    int file = 0;  // index of its descriptor
    std::uint64_t offset = 0;
    Bytes size;

    friend bool operator==(const Piece&, const Piece&) = default;
  };
  std::vector<Piece> pieces;
};

std::string encode(const KeepMessage& m);

// Errors: kCorrupt.
Result<KeepMessage> decode_keep(const std::string& payload);

}  // namespace hearth::wire
