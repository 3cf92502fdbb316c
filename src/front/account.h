// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "front/model_host.h"
#include "front/reply.h"
#include "policy/outlook.h"
#include "timeline/avoided.h"
#include "timeline/facts.h"
#include "timeline/report.h"
#include "timeline/snapshot.h"
#include "timeline/timeline.h"

namespace hearth::front {

// What one request took and met: collects stages and facts while it runs, and makes the report of
// it, as often as asked. Not thread-safe; belongs to the loop.
class Account {
 public:
  Account(std::string request_id, const RequestContext& context, std::int64_t wall_us);

  Timeline timeline;
  Facts facts;
  Before before;
  Rates rates;                          // of the model, when the request came
  std::optional<Outlook> outlook;       // as it was when the request had its place
  std::optional<WarmBound> warm_bound;  // when the request came

  void set_kind(RequestKind kind) { kind_ = kind; }
  void set_model(std::string name) { facts.model = model_ = std::move(name); }
  // The messages were put into a template that is not the model's own.
  void set_chat_template(std::string name) { chat_template_ = std::move(name); }
  // Adds a load that this request began or joined.
  void add_load(const LoadRecord& load);
  // Adds the worker's start, likewise.
  void add_spawn(const std::vector<Stage>& stages);
  void add_started(const wire::StartedMessage& started, TimePoint now);
  // While that prompt ran, a driver kept this much more of what it compiled.
  void add_late_compiles(const wire::StartedMessage& started, Bytes kept);
  void set_prefix(PrefixUse use);
  void add_done(const wire::DoneMessage& done);
  void add_embedded(const wire::EmbeddedMessage& embedded);
  void add_dropped(const wire::TokenizedMessage& tokenized);
  // How much of the worker's memory is in swap now. What of it has come back since the first time
  // counts as read for this request.
  void note_swap(Bytes now);
  // What a load was asked for has come.
  void set_loaded() { loaded_ = true; }

  void set_outcome(Outcome outcome, std::string message);
  void set_status(int http_status) { status_ = http_status; }
  // Whether a class can be told yet. Of a count there is none.
  bool known() const { return kind_ == RequestKind::kAnswer ? facts.prompt_tokens > 0 : loaded_; }

  // Of a request that runs on: up to its latest stage.
  RequestReport report() const;
  // Of one whose last byte went out at `last_byte`.
  RequestReport final_report(TimePoint last_byte);

 private:
  const std::string id_;
  const std::string api_;
  const std::string path_;
  const std::string key_;
  const std::int64_t wall_us_;
  const std::optional<RequestTrace> trace_;
  RequestKind kind_ = RequestKind::kAnswer;
  bool loaded_ = false;
  std::string model_;
  std::string chat_template_;
  std::optional<Bytes> swapped_before_;
  Bytes beyond_load_set_;  // read from devices during loads, but not of what they had to read
  std::optional<PrefixUse> prefix_;
  const ModuleUses module_uses_;
  Outcome outcome_ = Outcome::kOk;
  std::string message_;
  int status_ = 0;
  int generated_ = 0;
  int dropped_messages_ = 0;
  int dropped_tokens_ = 0;
  std::optional<TimePoint> first_token_;
  Duration prefill_{};
  Duration decode_{};
};

}  // namespace hearth::front
