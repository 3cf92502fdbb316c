// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/result.h"
#include "engine/vocabulary.h"
#include "wire/prefix_messages.h"
#include "worker/arena.h"
#include "worker/block_reader.h"
#include "worker/request.h"
#include "worker/stored_prefix.h"

namespace hearth::worker {

// What the front has answered to a request's tokens: which of its blocks are stored, and where its
// new ones go.
struct PrefixWork {
  std::shared_ptr<const Arena>
      arena;  // shared with whoever reads or writes it; null: there is none
  StoredPrefix stored;
  std::vector<StoredPrefix> modules;  // texts evaluated by themselves: the tokens are theirs
  int keep_from = 0;                  // the first block to keep
  std::vector<int> keep;              // arena slots for it and those after it
  Bytes keep_limit;
  bool both_ways = false;
  bool broken = false;  // a part of the plan could not be taken: none of it counts
  std::optional<wire::PrefixOutcome::Difference> difference;
  // Reading that began before it was known what is in cells, as no weights were there yet. Ends
  // before the rest of this object.
  std::unique_ptr<BlockReader> reader;

  // Adds one frame's part. Errors: kCorrupt (a descriptor that did not come, no root, more blocks
  // than tokens).
  Result<> add(const wire::PrefixPlanMessage& plan, std::vector<Fd> files, const Request& request);
};

// In words: where the prompt left the nearest earlier one. Nothing for a position that is not in
// it.
std::optional<wire::PrefixOutcome::Difference> explain(
    const wire::PrefixPlanMessage::Difference& difference, const Request& request,
    const engine::Vocabulary& vocabulary);

// A digest of 64 hexadecimal digits. Errors: kCorrupt.
Result<Digest> digest_from_hex(std::string_view text);

}  // namespace hearth::worker
