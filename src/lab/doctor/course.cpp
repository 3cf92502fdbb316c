// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/course.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json.h"
#include "lab/doctor/diagnosis.h"
#include "lab/doctor/fields.h"

namespace hearth::lab {
namespace json = boost::json;
namespace {

// Which replies a finding blames; those of the doctor's own codes by what they are made of.
bool is_of(const PastReply& reply, const Applied& applied) {
  if (!applied.model.empty() && reply.model != applied.model) return false;
  if (applied.code == "prefix.volatile_head") return reply.code == "prefix.diverged";
  if (applied.code == "memory.limit") {
    return reply.code == "weights.evicted_for" || reply.code == "pages.evicted" ||
           reply.code == "pages.swapped" || reply.code == "memory.swapped";
  }
  if (applied.code.starts_with("disk.")) return reply.response_class == "storage-cold";
  return reply.code == applied.code;
}

void count(Course::Side& side, const PastReply& reply, const Applied& applied) {
  if (!applied.model.empty() && reply.model != applied.model) return;
  ++side.requests;
  if (!is_of(reply, applied)) return;
  ++side.cold;
  side.cost_s += reply.cost_ms / 1000;
}

Course::Verdict verdict_of(const Course& course) {
  using enum Course::Verdict;
  constexpr double kAlike = 0.2;
  if (course.after.requests < kLeastAfter) return kTooEarly;
  if (course.after.cold == 0) return kGone;
  if (course.after.per_day < course.before.per_day * (1 - kAlike)) return kBetter;
  return course.after.per_day > course.before.per_day * (1 + kAlike) ? kWorse : kSame;
}

json::object side_json(const Course::Side& side) {
  return {{"requests", side.requests},
          {"cold", side.cold},
          {"cost_s", side.cost_s},
          {"seconds_per_day", side.per_day}};
}

}  // namespace

std::string encode(const std::vector<Applied>& applied) {
  json::array list;
  for (const Applied& one : applied) {
    list.push_back(json::object{{"server", one.server},
                                {"code", one.code},
                                {"model", one.model},
                                {"command", one.command},
                                {"at_us", one.at_us}});
  }
  return json::serialize(json::object{{"applied", std::move(list)}}) + "\n";
}

Result<std::vector<Applied>> decode_applied(std::string_view text) {
  const Result<json::value> parsed = parse_json(text);
  if (!parsed || !parsed->is_object()) {
    return fail(ErrorCode::kCorrupt, "it is no list of remedies that were applied");
  }
  std::vector<Applied> applied;
  for (const json::object* one : fields::objects(parsed->get_object(), "applied")) {
    applied.push_back({fields::text(*one, "server"), fields::text(*one, "code"),
                       fields::text(*one, "model"), fields::text(*one, "command"),
                       static_cast<std::int64_t>(fields::number(*one, "at_us").value_or(0))});
  }
  return applied;
}

std::string_view name_of(Course::Verdict verdict) {
  constexpr std::array<std::string_view, 5> kNames{"too early", "gone", "better", "no change",
                                                   "worse"};
  return kNames[static_cast<std::size_t>(verdict)];
}

Course course_of(const Applied& applied, std::span<const PastReply> replies, std::int64_t now_us) {
  Course course;
  std::vector<PastReply> earlier;
  for (const PastReply& reply : replies) {
    const bool before = reply.started_us < applied.at_us;
    count(before ? course.before : course.after, reply, applied);
    if (before) earlier.push_back(reply);
  }
  const double days = days_of(earlier, std::min(applied.at_us, now_us));
  course.before.per_day = course.before.cost_s / days;
  if (course.after.requests > 0) {
    const double per_request = course.after.cost_s / course.after.requests;
    course.after.per_day = per_request * std::max(1, course.before.requests) / days;
  }
  course.verdict = verdict_of(course);
  return course;
}

json::object to_json(const Applied& applied, const Course& course) {
  return {{"code", applied.code},
          {"model", applied.model},
          {"command", applied.command},
          {"at_us", applied.at_us},
          {"before", side_json(course.before)},
          {"after", side_json(course.after)},
          {"verdict", name_of(course.verdict)}};
}

json::object to_json(const Finding& finding) {
  return {{"code", finding.code},
          {"model", finding.model},
          {"requests", finding.requests},
          {"cost_s", finding.cost_s},
          {"seconds_per_day", finding.seconds_per_day},
          {"text", finding.text},
          {"remedy", finding.remedy.text},
          {"command", finding.remedy.command},
          {"can_apply", finding.remedy.can_apply()}};
}

}  // namespace hearth::lab
