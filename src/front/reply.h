// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/result.h"
#include "front/keep_alive.h"
#include "timeline/report.h"
#include "timeline/trace_context.h"
#include "wire/messages.h"

namespace hearth::front {

// What a reply says of the modules that its request named. Shared by the request's account and by
// the counting of their tokens, which may end after the request has begun.
using ModuleUses = std::shared_ptr<std::vector<PrefixUse::Module>>;

// RequestContext::api of what proves that a model is warm.
inline constexpr std::string_view kProbeApi = "probe";

// Who asked and how, beside what was asked: the same for every kind of request.
struct RequestContext {
  std::string model;  // as the client wrote it
  std::string api;    // "openai", "ollama", "anthropic", "hearth"
  std::string path;   // "/v1/chat/completions"
  TimePoint first_byte;
  std::string key;                     // whose prefixes may be shared; empty: everybody's
  std::optional<Duration> wait_limit;  // Prefer: wait=N; how long a cold model may be waited for
  // Nobody asked for it: it is no use of the model, and keeps nothing awake.
  bool by_itself = false;
  std::string module = {};  // named prompt state that this request makes, to stay; empty: none
  // How long the weights stay after this reply; absent: as the configuration says for this model.
  std::optional<KeepAlive> keep_alive;
  std::vector<std::string> modules = {};  // whose texts come first, in this order
  // What is stored of these modules may be used at other positions than its own.
  bool approximate = false;
  std::vector<std::vector<int>> texts = {};       // their tokens, each alone, where they are known
  ModuleUses module_uses = {};                    // null: none were named
  std::optional<TraceContext> trace_parent = {};  // as the client told it
  std::optional<RequestTrace> trace = {};         // as the front made it of that
};

struct GenerateRequest {
  RequestContext context;
  wire::GenerateMessage message;
};

struct EmbedRequest {
  RequestContext context;
  wire::EmbedMessage message;
};

// Only warms: Progress, then Finished without tokens.
struct LoadRequest {
  RequestContext context;
};

// While a model warms, before the first token; at most twenty a second.
struct Progress {
  std::string stage;  // "queue", "download", "verify", "spawn", "read", "load", "context", ...
  double fraction = 0;
  std::int64_t done_bytes = 0;
  std::int64_t total_bytes = 0;
  // Of "queue": requests, or models that wait for memory, before this one, and when at the
  // earliest its turn or its first token may come.
  std::optional<int> ahead = {};
  std::optional<double> eta_ms = {};
};

// The prompt has been evaluated and the first token is there. `report` holds what is known by then.
struct Started {
  int prompt_tokens = 0;
  int cached_tokens = 0;
  RequestReport report;
};

struct Delta {
  std::string text;
  std::string reasoning;
  std::vector<wire::ToolCallDelta> tool_calls;
  std::vector<wire::TokenLogprob> logprobs = {};  // where the request asked for them
};

// What came so far is void: a worker died before the client saw anything, and the request runs
// again. Comes only while no Delta has been taken, or the reply is of the kind that is sent whole.
struct Restarted {};

struct Embedded {
  std::vector<std::vector<float>> vectors;
};

// The last event of a request that went well.
struct Finished {
  std::string reason;      // "stop", "length", "tool_calls"; "counted", "load"
  std::string stopped_by;  // the stop string, if one did it
  int prompt_tokens = 0;
  int cached_tokens = 0;
  int generated = 0;
  double prompt_ms = 0;
  double generated_ms = 0;
  std::vector<int> tokens;  // prompt and reply, where the request asked for them
  RequestReport report;     // up to now; the last byte is still to be sent
};

// The last event of a request that did not. retry_after is set with kBusy, and with kUnavailable
// when the client's own wait limit ran out; then eta says when the model may be warm.
struct Refused {
  Error error;
  std::optional<int> retry_after_s;
  std::optional<double> eta_ms;
  RequestReport report;
};

using Event = std::variant<Progress, Started, Delta, Restarted, Embedded, Finished, Refused>;

// May a failed worker's request be run again after deltas were taken? Yes, if they were only
// collected.
enum class Delivery { kWhole, kStreamed };

// One request on its way. Dropping it cancels the request and frees its sequence; so a client that
// goes away only needs its handler to end. Belongs to the loop.
class Reply {
 public:
  virtual ~Reply() = default;

  virtual const std::string& id() const = 0;

  // Its place in a trace, if it has one; as in its reports.
  virtual std::optional<RequestTrace> trace() const { return std::nullopt; }

  // Waits for the next event. After Finished or Refused there is none: do not call again.
  virtual Task<Event> next() = 0;

  // Ends a wait in next() early: the request is cancelled and next() yields Refused(kCancelled).
  virtual void cancel() = 0;

  // The last byte of the answer went out (or failed to): closes the timeline and writes the
  // history. Call it once, after Finished or Refused; a reply that is dropped without it counts as
  // cancelled.
  virtual void sent(int http_status) = 0;
};

}  // namespace hearth::front
