// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hearth {

// What the keys and values of a model bring: memory that it wants besides its weights.
struct GgufNeed {
  std::uint64_t kv_context = 0;  // tokens of the context that a first load makes; 0: not known
  std::optional<Bytes> kv;       // of the cache for so many; nothing: not known
  std::string note;              // why not, or how exact it is; often empty
};

// `metadata`: as GgufDetails has it. The cache is taken to be of 16-bit numbers.
GgufNeed need_of(const boost::json::object& metadata);

// What a tensor is part of, by its name: "blk.7" of "blk.7.attn_q.weight", else "token_embd",
// "output", ...
std::string_view layer_of_tensor(std::string_view name);

}  // namespace hearth
