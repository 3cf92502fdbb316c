// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "front/reply.h"

namespace hearth::api {

// What every body and chunk of one reply repeats.
struct ReplyIdentity {
  std::string request_id;
  std::string model;            // canonical name
  std::string asked_model;      // as the client wrote it
  std::string fingerprint;      // engine and CPU variant, as far as known
  std::int64_t created_us = 0;  // wall clock
};

// A reply put together from its deltas, for clients that want it whole.
struct Collected {
  std::string text;
  std::string reasoning;
  std::vector<wire::ToolCallDelta> tool_calls;  // complete, by index
  std::vector<wire::TokenLogprob> logprobs = {};

  void add(const front::Delta& delta);
};

inline constexpr std::string_view kEventStream = "text/event-stream; charset=utf-8";

// How a generated reply looks in one dialect. What the append functions add is complete: whole
// server-sent events, or whole lines. One object for each reply, used from first to last in order:
// it may keep what all chunks share, and where the stream stands.
class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;

  virtual std::string whole(const Collected& reply, const front::Finished& end) = 0;
  virtual std::string_view whole_content_type() const { return "application/json"; }

  // Of the stream.
  virtual std::string_view content_type() const { return kEventStream; }
  // While the model warms, for those who asked for it; before append_first().
  virtual void append_progress(std::string& out, const front::Progress& progress);
  // What comes before any text, if this dialect has it.
  virtual void append_first(std::string& out, const front::Started& started) = 0;
  virtual void append_delta(std::string& out, const front::Delta& delta) = 0;
  // Everything that follows the last delta.
  virtual void append_end(std::string& out, const front::Finished& end) = 0;
  // An error after the first byte; nothing follows it.
  virtual void append_error(std::string& out, const front::Refused& refused) = 0;
};

using MakeFormat = std::function<std::unique_ptr<ReplyFormat>(ReplyIdentity)>;

// {"stage","fraction","done_bytes","total_bytes"}
std::string progress_json(const front::Progress& progress);

// The same as a comment, which clients of server-sent events pass over.
void append_progress_comment(std::string& out, const front::Progress& progress);

}  // namespace hearth::api
