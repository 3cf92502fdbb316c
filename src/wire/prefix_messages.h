// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

// What front and worker say to each other about prompt state that is kept beyond live cells. The
// front knows which blocks there are and where; the worker has the bytes in hand. See
// blocks/block_chain.h for what a block is.
namespace hearth::wire {

enum class BlockTier { kArena, kDisk };

// Arena slots lie this far apart. The arena is sparse: a slot costs what is written into it.
inline constexpr Bytes kArenaPitch{std::uint64_t{256} << 20};

// The answer to kTokenized of a request with GenerateMessage::plan_prefix; a request waits for it.
// Descriptors come along for the blocks on disk; where there are more than one frame can carry,
// several frames with `more`.
struct PrefixPlanMessage {
  struct Stored {
    BlockTier tier = BlockTier::kArena;
    int place = 0;  // the arena's slot, or the descriptor's index in this frame
    Bytes size;     // of the record
    // The record begins with so many of the prompt's next tokens, and then differs or ends: the
    // last one only. 0: a block whose tokens are all the prompt's.
    int tokens = 0;
  };
  std::vector<Stored> stored;  // of the prompt's first blocks, without a gap
  bool more = false;           // the blocks that follow these come in the next frame

  // The rest counts in the last frame only.
  int keep_from = 0;  // the first whole block that is not stored anywhere yet
  // Arena slots for that block and those after it, of prompt and reply; the last one may be a part.
  std::vector<int> keep;
  Bytes keep_limit;  // for all of them together
  // Evaluate from the front while blocks are read from the back, until the two meet.
  bool both_ways = false;
  // The nearest earlier prompt of the same domain had this token at this position.
  struct Difference {
    int position = 0;
    int token = 0;
  };
  std::optional<Difference> difference;
  // Texts that were evaluated by themselves, for use at other positions of this prompt, where the
  // request allows what is not exact. Places of files are in the last frame.
  struct Module {
    std::vector<int> tokens;
    std::vector<Stored> stored;  // of its first blocks, without a gap
  };
  std::vector<Module> modules = {};
};

// The worker's report on `keep`, once a plan that had any: after the request's kDone, as soon as
// there was time. Blocks that are not listed were not written, and their slots are free.
struct BlocksMessage {
  std::vector<int> generated;  // tokens after the prompt, as far as listed blocks hold any
  // Of the records in the first slots of `keep`; zero: nothing was written there, for that block is
  // kept for another request, which was reported before.
  std::vector<Bytes> sizes;
  int part = 0;        // tokens of the last of these records where it is a part; 0: all are whole
  std::string reason;  // why there are fewer than asked for; empty: there was no more to keep
};

// Where a request's cached tokens came from, and what stood in the way of more.
struct PrefixOutcome {
  int live = 0;  // tokens; the four together are StartedMessage::cached_tokens
  int arena = 0;
  int disk = 0;
  int shifted = 0;    // of modules, evaluated at other positions: an approximation
  Bytes arena_bytes;  // read for that, checksums included
  Bytes disk_bytes;
  struct Refused {
    int block = 0;
    std::string reason;  // "checksum", "tokens", "short", "io", "engine"
  };
  std::vector<Refused> refused;  // stored blocks that could not be used
  // Why none could be used at all: a word for people; empty: some could, or none was there.
  std::string not_restorable;
  // Where this prompt left the nearest earlier one: PrefixPlanMessage::difference in words.
  struct Difference {
    int position = 0;   // token
    int character = 0;  // of the prompt's text, in bytes
    std::string had;    // the earlier token's text
    std::string has;    // this one's
  };
  std::optional<Difference> difference;

  // Whether there is anything to say.
  bool tells() const {
    return live + arena + disk + shifted > 0 || !refused.empty() || !not_restorable.empty() ||
           difference;
  }
};

std::string encode(const PrefixPlanMessage& m);
std::string encode(const BlocksMessage& m);
std::string encode(const PrefixOutcome& m);

// Errors: kCorrupt, naming the member.
Result<PrefixPlanMessage> decode_prefix_plan(const std::string& payload);
Result<BlocksMessage> decode_blocks(const std::string& payload);

}  // namespace hearth::wire
