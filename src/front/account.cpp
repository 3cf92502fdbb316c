// SPDX-License-Identifier: Apache-2.0
#include "front/account.h"

#include <algorithm>

#include "base/files.h"
#include "front/swap_kind.h"
#include "timeline/response_class.h"
#include "timeline/verdict.h"

namespace hearth::front {
namespace {

Duration of_milliseconds(double ms) { return Duration{static_cast<std::int64_t>(ms * 1e6)}; }

// What bringing back stored state took while nothing else went on.
Duration alone_in_restore(const Timings& timings) {
  if (!timings.has(StageKind::kRestore)) return {};
  std::vector<StageKind> others;
  for (int i = 0; i <= static_cast<int>(StageKind::kDecode); ++i) {
    const auto kind = static_cast<StageKind>(i);
    if (kind != StageKind::kRestore) others.push_back(kind);
  }
  return timings.covered - timings.time_in(others);
}

}  // namespace

Account::Account(std::string request_id, const RequestContext& context, std::int64_t wall_us)
    : id_{std::move(request_id)},
      api_{context.api},
      path_{context.path},
      key_{context.key},
      wall_us_{wall_us},
      trace_{context.trace},
      module_uses_{context.module_uses} {
  timeline.begin(context.first_byte);
}

void Account::add_load(const LoadRecord& load) {
  timeline.add(load.loaded.stages);
  for (const Stage& stage : load.loaded.stages) {
    if (stage.kind == StageKind::kQueue) facts.behind_load += stage.length();
  }
  facts.weights_loaded = true;
  facts.compiled = facts.compiled || load.loaded.repack == "built";
  facts.bytes_read += load.loaded.bytes_read;
  beyond_load_set_ += load.loaded.bytes_read - load.loaded.missing;
  facts.major_faults += load.loaded.major_faults;
  facts.weights_cause = verdict_code_named(code_of(load.cause));
}

void Account::add_spawn(const std::vector<Stage>& stages) {
  timeline.add(stages);
  facts.spawned = true;
}

void Account::add_started(const wire::StartedMessage& started, TimePoint now) {
  timeline.add(started.stages);
  facts.prompt_tokens = started.prompt_tokens;
  facts.cached_tokens = started.cached_tokens;
  facts.read_for_prefix = std::min(beyond_load_set_, started.prefix.disk_bytes);
  facts.restored = alone_in_restore(timeline.timings());
  first_token_ = now;
  const int fresh = started.prompt_tokens - started.cached_tokens;
  if (outlook && fresh > 0 && outlook->prefill.known()) {
    const Duration prefill = of_milliseconds(1000 * outlook->prefill.seconds(fresh));
    facts.warm_prefill = prefill;
    if (outlook->prefill.measured()) facts.usual_prefill = prefill;
  }
  prefill_ = {};  // a run that was lost counts no more
  for (const Stage& stage : started.stages) {
    if (stage.kind == StageKind::kPrefill) prefill_ += stage.length();
  }
}

void Account::set_prefix(PrefixUse use) {
  facts.prefix_cause.reset();
  if (use.miss) facts.prefix_cause = use.miss->reason;
  prefix_ = std::move(use);
}

// How much of the prefill it took nobody tells: it is the stage's time at most.
void Account::add_late_compiles(const wire::StartedMessage& started, Bytes kept) {
  if (kept == Bytes{}) return;
  facts.compiled = true;
  std::optional<Stage> over;
  for (const Stage& stage : started.stages) {
    if (stage.kind != StageKind::kPrefill) continue;
    if (!over) over = Stage{StageKind::kCompile, stage.start, stage.end, kept};
    over->end = std::max(over->end, stage.end);
  }
  if (over) timeline.add(*over);
}

void Account::add_done(const wire::DoneMessage& done) {
  timeline.add(done.stages);
  facts.prompt_tokens = done.prompt_tokens;
  facts.cached_tokens = done.cached_tokens;
  generated_ = done.generated;
  decode_ = of_milliseconds(done.generated_ms);
  for (const Stage& stage : done.stages) {
    if (stage.kind == StageKind::kPrefill) prefill_ += stage.length();
  }
}

void Account::add_embedded(const wire::EmbeddedMessage& embedded) {
  timeline.add(embedded.stages);
  facts.prompt_tokens = embedded.prompt_tokens;
  for (const Stage& stage : embedded.stages) {
    if (stage.kind == StageKind::kPrefill) prefill_ += stage.length();
  }
}

void Account::note_swap(Bytes now) {
  if (!swapped_before_) swapped_before_ = now;
  // A worker that was started meanwhile is another one, with nothing in swap.
  if (facts.spawned || *swapped_before_ <= now) return;
  facts.swapped_in = *swapped_before_ - now;
  facts.swap_kind = swap_kind(read_small_file("/proc/swaps"));
}

void Account::add_dropped(const wire::TokenizedMessage& tokenized) {
  dropped_messages_ = tokenized.dropped_messages;
  dropped_tokens_ = tokenized.dropped_tokens;
}

void Account::set_outcome(Outcome outcome, std::string message) {
  outcome_ = outcome;
  message_ = std::move(message);
}

RequestReport Account::report() const {
  RequestReport report;
  report.request_id = id_;
  report.kind = kind_;
  report.model = model_;
  report.api = api_;
  report.path = path_;
  report.key = key_;
  report.status = status_;
  report.started_wall_us = wall_us_;
  report.trace = trace_;
  report.outcome = outcome_;
  report.message = message_;
  report.timings = timeline.timings();
  Facts known_facts = facts;
  known_facts.queued = report.timings.queued;
  if (known()) {
    report.response_class = classify(known_facts);
    report.verdict = explain(known_facts, timeline, before);
  }
  report.before = before;
  report.prefix = prefix_;
  if (module_uses_ && facts.prompt_tokens > 0) {
    if (!report.prefix) report.prefix.emplace();
    report.prefix->modules = *module_uses_;
  }
  report.avoided = avoided_by(known_facts, before, rates);
  report.warm_bound = warm_bound;
  report.chat_template = chat_template_;
  report.dropped_messages = dropped_messages_;
  report.dropped_tokens = dropped_tokens_;
  report.prompt_tokens = facts.prompt_tokens;
  report.cached_tokens = facts.cached_tokens;
  report.generated_tokens = generated_;
  if (first_token_) report.time_to_first_token = *first_token_ - timeline.first_byte();
  report.prefill = prefill_;
  report.decode = decode_;
  report.bytes_read = facts.bytes_read;
  report.major_faults = facts.major_faults;
  return report;
}

RequestReport Account::final_report(TimePoint last_byte) {
  if (outcome_ == Outcome::kOk) timeline.deliver(last_byte);
  timeline.finish(last_byte);
  return report();
}

}  // namespace hearth::front
