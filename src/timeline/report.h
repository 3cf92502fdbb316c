// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "timeline/avoided.h"
#include "timeline/prefix_use.h"
#include "timeline/response_class.h"
#include "timeline/snapshot.h"
#include "timeline/timeline.h"
#include "timeline/trace_context.h"
#include "timeline/verdict.h"

namespace hearth {

enum class Outcome { kOk, kCancelled, kError };

// "ok", "cancelled", "error"
std::string_view name_of(Outcome outcome);

// What was asked for. Only an answer has a time to its first token; what was only counted met no
// cache, so it has no class either.
enum class RequestKind { kAnswer, kLoad, kCount };

// A user wants a model's first token within some time; this is what a reply is told where that
// cannot be had now.
struct WarmBound {
  Duration wanted{};
  Duration bound{};  // of the first token of a short prompt from where the model stood
  std::string why{};
};

// All that is kept of a request. There is no room in it for prompts and replies.
struct RequestReport {
  std::string request_id{};
  RequestKind kind = RequestKind::kAnswer;
  std::string model{};  // the catalogue's name; empty when the request named no model that exists
  std::string api{};    // "openai", "ollama", "anthropic", "admin"
  std::string path{};   // without its query
  std::string key{};    // id of the API key; empty without one
  int status = 0;       // HTTP
  std::int64_t started_wall_us = 0;
  // Unset: the client told of none, and none was begun here.
  std::optional<RequestTrace> trace{};

  Outcome outcome = Outcome::kOk;
  std::string message{};  // what went wrong, as the client was told

  std::optional<ResponseClass> response_class{};  // unset: it ended before anything was known
  Timings timings{};
  Before before{};
  Avoided avoided{};
  std::optional<Verdict> verdict{};
  // Unset where nothing of the prompt was to be kept, or before its first token.
  std::optional<PrefixUse> prefix{};
  std::optional<WarmBound> warm_bound{};  // unset: nothing is wanted, or it is kept

  int prompt_tokens = 0;
  int cached_tokens = 0;
  int generated_tokens = 0;
  std::optional<Duration> time_to_first_token{};  // from the first byte in
  Duration prefill{};
  Duration decode{};  // from the first token to the last

  int dropped_messages = 0;  // what a prompt lost to its limit, where the client let it
  int dropped_tokens = 0;

  std::string chat_template{};  // "chatml" where the model has none of its own; else empty

  Bytes bytes_read{};  // from the device; with timings.shared, of the joined load too
  std::int64_t major_faults = 0;
};

// Of decoding alone, so without the first token; unset with fewer than two.
std::optional<double> tokens_per_second(const RequestReport& report);

// The `hearth` object of a reply: times in ms from the first byte in, with at most three decimals.
// `cold_layer` is absent when nothing was cold, `verdict` where there is none, `truncated` when the
// prompt was taken whole.
std::string to_json(const RequestReport& report);

// The same object with what the history adds: model, api, path, key, outcome, tokens, rates; and
// without the texts of tokens where a prompt left an earlier one. Long messages and paths are cut,
// so an entry has a bounded size; of the server's own paths a message keeps the last part only,
// since not only admins read the history.
std::string to_history_json(const RequestReport& report);

// The value of a Server-Timing header: "queue;dur=0.4, prefill;dur=12.3", one entry for each kind
// of stage in the order of StageKind. Empty when there is no stage yet.
std::string server_timing(const RequestReport& report);

}  // namespace hearth
