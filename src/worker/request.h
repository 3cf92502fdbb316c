// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/output_parser.h"
#include "engine/sampler.h"
#include "engine/stop_matcher.h"
#include "engine/tokens.h"
#include "worker/gauges.h"

namespace hearth::worker {

struct PrefixWork;

enum class RequestKind { kGenerate, kEmbed };

// A request on its way through the worker. It belongs to one thread after the other: the one that
// receives it, the one that tokenizes it, the one that computes it. Only `cancelled` may be touched
// meanwhile.
struct Request {
  Request(std::uint64_t number, RequestKind what, TimePoint when, Gauges& counted)
      : id{number}, kind{what}, received{when}, gauges{counted} {
    gauges.active.fetch_add(1, std::memory_order_relaxed);
  }
  ~Request() { gauges.active.fetch_sub(1, std::memory_order_relaxed); }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  const std::uint64_t id;
  const RequestKind kind;
  const TimePoint received;
  Gauges& gauges;
  std::atomic<bool> cancelled{false};

  std::string payload;  // until it is tokenized

  // From tokenizing on.
  TimePoint tokenized;
  std::vector<engine::Token> prompt;

  // kGenerate
  std::optional<engine::Sampler> sampler;
  engine::StopMatcher stops;
  std::unique_ptr<engine::OutputParser> parser;
  std::vector<engine::Token> preserved;  // control tokens whose text the parser needs
  std::string echo;
  std::optional<int> logprobs;  // alternatives told with each token; absent: no log probabilities
  int max_tokens = -1;
  int context_limit = 0;  // of prompt and reply together
  bool reuse_prefix = true;
  std::string domain;        // of its cells
  bool plan_prefix = false;  // it waits for `prefix`
  bool answered = false;     // before it was computed; of the thread that computes
  // The front's plan; of the thread that computes.
  std::shared_ptr<PrefixWork> prefix;  // shared only so that its type may be unknown here
  bool return_tokens = false;
  bool count_only = false;  // its end comes with its tokens; it never meets weights

  // kEmbed
  std::vector<std::vector<engine::Token>> inputs;
};

// Shared by the thread that has the request in hand and, weakly, by the receiver, which may cancel
// it.
using RequestPtr = std::shared_ptr<Request>;

}  // namespace hearth::worker
