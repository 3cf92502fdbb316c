// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/stage.h"
#include "engine/logprobs.h"
#include "engine/vocabulary.h"
#include "worker/answer.h"
#include "worker/replies.h"
#include "worker/request.h"
#include "worker/step_plan.h"

struct llama_context;

namespace hearth::worker {

// What the cells are like when a request ends.
struct CellFigures {
  int live_tokens = 0;
  int cells = 0;
};

// A generation that has a slot: its progress through prompt and answer, its stamps, and what it
// sends. Belongs to the inference thread.
class Sequence {
 public:
  struct Place {
    int slot = 0;
    int cached = 0;
    int context_limit = 0;
  };
  Sequence(RequestPtr request, const engine::Vocabulary& vocabulary, Replies& replies, Place place);

  int slot() const { return place_.slot; }
  const Request& request() const { return *request_; }
  bool cancelled() const { return request_->cancelled.load(std::memory_order_relaxed); }
  bool wants_reuse() const { return request_->reuse_prefix; }
  const RequestPtr& shared_request() const { return request_; }
  // Tokens of its prompt that are in cells.
  int prompt_done() const { return prompt_done_; }
  bool reads_prompt() const { return generated_ == 0; }

  Demand demand() const;
  // Cells that it will have used when its next token is evaluated, or its whole prompt.
  int cells_needed() const;
  // The next `count` tokens to evaluate: of the prompt, or the one that was sampled last.
  std::span<const engine::Token> next(int count) const;
  bool finishes_prompt(int count) const;

  // `count` tokens of next() are in cells.
  void evaluated(int count);

  // The first `count` tokens are in cells, by whatever way; `outcome` says by which.
  void restored(int count) { prompt_done_ = count; }
  // What is told of it with the first token; its four figures are the cached tokens.
  wire::PrefixOutcome& prefix() { return prefix_; }
  void add_stage(Stage stage);

  void waited(TimePoint since, TimePoint until);
  void context_grew(TimePoint start, TimePoint end);
  void step_begins(TimePoint now);

  enum class State { kGoing, kEnded };
  // The logits of what was evaluated last are at `index` in the engine's context: samples, sends.
  // When the answer has ended, finish() or fail() is to follow.
  State take_logits(llama_context* context, int index);

  void finish(const CellFigures& figures);
  void finish_cancelled(const CellFigures& figures);
  void fail(const Error& error);
  const Error* error() const { return error_ ? &*error_ : nullptr; }

 private:
  State take_token(engine::Token token, std::optional<wire::TokenLogprob> told);
  std::optional<wire::TokenLogprob> told_of(llama_context* context, int index,
                                            engine::Token token) const;
  void end(std::string reason) { reason_ = std::move(reason); }
  void send(engine::OutputDelta delta);
  void send(engine::OutputDelta delta, std::vector<wire::TokenLogprob> logprobs);
  void send_started();
  void add_cut_prefill(wire::DoneMessage& done);
  int cached() const { return prefix_.live + prefix_.arena + prefix_.disk + prefix_.shifted; }
  void stamp_first_token(TimePoint now);

  RequestPtr request_;
  const engine::Vocabulary& vocabulary_;
  Replies& replies_;
  Place place_;
  Answer answer_;
  int prompt_done_;  // tokens of the prompt that are in cells
  engine::Token last_ = 0;
  int generated_ = 0;
  std::vector<int> written_;  // the same, if the front wants them
  bool started_ = false;
  std::string reason_;
  std::string stopped_by_;
  std::optional<Error> error_;

  wire::PrefixOutcome prefix_;
  std::vector<Stage> stages_;
  TimePoint ready_;  // since when nothing but a turn was missing
  TimePoint prefill_start_, logits_at_, first_token_, last_token_;
};

}  // namespace hearth::worker
