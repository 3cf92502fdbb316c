// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "front/reply.h"

namespace hearth::api::openai {

// What every body and chunk of one reply repeats.
struct ReplyIdentity {
  std::string request_id;
  std::string model;         // canonical name
  std::string fingerprint;   // engine and CPU variant, as far as known
  std::int64_t created = 0;  // seconds since 1970
};

// A reply put together from its deltas, for clients that want it whole.
struct Collected {
  std::string text;
  std::string reasoning;
  std::vector<wire::ToolCallDelta> tool_calls;  // complete, by index

  void add(const front::Delta& delta);
};

// How a generated reply looks: /v1/chat/completions and /v1/completions differ in nothing else. The
// appended pieces are complete SSE events. Pure; one for each reply, because what all chunks of a
// reply share is put together once.
class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;

  virtual std::string whole(const Collected& reply, const front::Finished& end) const = 0;

  // The chunk before any text, if this format has one.
  virtual void append_first(std::string& out) const = 0;
  virtual void append_delta(std::string& out, const front::Delta& delta) const = 0;
  // finish_reason, timings and the hearth object.
  virtual void append_last(std::string& out, const front::Finished& end) const = 0;
  // The chunk that has no choices, for those who asked for it.
  virtual void append_usage(std::string& out, const front::Finished& end) const = 0;

  static std::unique_ptr<ReplyFormat> chat(ReplyIdentity identity);
  static std::unique_ptr<ReplyFormat> text(ReplyIdentity identity);
};

std::string usage_json(const front::Finished& end);

// llama-server's `timings`: prompt_n counts what was evaluated, cache_n what was not.
std::string timings_json(const front::Finished& end);

}  // namespace hearth::api::openai
