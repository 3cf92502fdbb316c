// SPDX-License-Identifier: Apache-2.0
#include "lab/trial.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "lab/plain_json.h"
#include "lab/row_json.h"

namespace hearth::lab {
namespace {

// One list of names for both directions: `part` is const for writing.
template <class Part, class Visit>
void visit_proof(Part& part, Visit& visit) {
  visit("pages", part.pages);
  visit("pages_evicted", part.pages_evicted);
  visit("load_set", part.load_set);
  visit("pages_by", part.pages_by);
  visit("processes", part.processes);
  visit("mapped", part.mapped);
  visit("holder_age_s", part.holder_age_s);
  visit("resident", part.resident);
  visit("anonymous", part.anonymous);
  visit("file_backed", part.file_backed);
  visit("locked", part.locked);
  visit("device", part.device);
  visit("clock_mhz", part.clock_mhz);
  visit("told", part.told);
}

template <class Part, class Visit>
void visit_effects(Part& part, Visit& visit) {
  visit("bytes_read", part.bytes_read);
  visit("major_faults", part.major_faults);
  visit("minor_faults", part.minor_faults);
  visit("processor_s", part.processor_s);
  visit("peak_resident", part.peak_resident);
  visit("outside_cores", part.outside_cores);
  visit("stall", part.stall);
  visit("swapped", part.swapped);
  visit("joules", part.joules);
}

template <class Part, class Visit>
void visit_timing(Part& part, Visit& visit) {
  visit("start_ms", part.start_ms);
  visit("first_token_ms", part.first_token_ms);
  visit("total_ms", part.total_ms);
  visit("stages_ms", part.stages_ms);
  visit("overlap_ms", part.overlap_ms);
  visit("other_ms", part.other_ms);
  visit("tokens_per_second", part.tokens_per_second);
  visit("prompt_tokens", part.prompt_tokens);
  visit("cached_tokens", part.cached_tokens);
  visit("generated_tokens", part.generated_tokens);
}

template <class Row, class Visit>
void visit_row(Row& row, Visit& visit) {
  visit("study", row.study);
  visit("side", row.side);
  visit("arm", row.arm);
  visit("model", row.model);
  visit("block", row.block);
  visit("order", row.order);
  visit("repetition", row.repetition);
  visit("started_wall_us", row.started_wall_us);
  visit("response_class", row.response_class);
  visit("verdict_code", row.verdict_code);
  visit("verdict_text", row.verdict_text);
  visit("report", row.report);
  visit("extra", row.extra);
  visit("failure", row.failure);
  visit("flags", row.flags);
}

}  // namespace

std::optional<double> Timing::wait_ms() const {
  if (!first_token_ms) return std::nullopt;
  return start_ms.value_or(0) + *first_token_ms;
}

std::string encode(const Trial& trial) {
  MemberWriter row, before, effects, timing;
  visit_row(trial, row);
  visit_proof(trial.before, before);
  visit_effects(trial.effects, effects);
  visit_timing(trial.timing, timing);
  row.add("before", std::move(before));
  row.add("effects", std::move(effects));
  row.add("timing", std::move(timing));
  return plain_json(row.take());
}

Result<Trial> decode_trial(const std::string& line) {
  const Result<boost::json::value> parsed = parse_json(line);
  if (!parsed) return fail(ErrorCode::kCorrupt, "a row: " + parsed.error().message());
  if (!parsed->is_object()) return fail(ErrorCode::kCorrupt, "a row is not a JSON object");
  Trial trial;
  MemberReader row{parsed->as_object()};
  MemberReader before = row.below("before");
  MemberReader effects = row.below("effects");
  MemberReader timing = row.below("timing");
  visit_row(trial, row);
  visit_proof(trial.before, before);
  visit_effects(trial.effects, effects);
  visit_timing(trial.timing, timing);
  row.add(before);
  row.add(effects);
  row.add(timing);
  if (!row.wrong().empty()) {
    return fail(ErrorCode::kCorrupt, "a row's \"" + row.wrong() + "\" is of the wrong kind");
  }
  return trial;
}

}  // namespace hearth::lab
