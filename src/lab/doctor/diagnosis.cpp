// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/size_text.h"
#include "lab/doctor/remedies.h"
#include "lab/doctor/standing_findings.h"

namespace hearth::lab {
namespace {

constexpr double kDayUs = 86'400e6;

// What happens to every server: no finding by itself.
constexpr std::array<std::string_view, 11> kOrdinary{"artifact.absent",
                                                     "artifact.partial",
                                                     "pages.never_read",
                                                     "weights.first_use",
                                                     "compiled.first",
                                                     "prefix.short",
                                                     "prefix.not_restorable",
                                                     "prefix.other_options",
                                                     "queue.busy",
                                                     "queue.behind_load",
                                                     "power.ramp"};
// One reply beside a busy neighbour is an accident.
constexpr int kLeastContended = 3;

struct Group {
  int requests = 0;
  double cost_s = 0;
  const PastReply* worst = nullptr;

  void add(const PastReply& reply) {
    ++requests;
    cost_s += reply.cost_ms / 1000;
    if (worst == nullptr || reply.cost_ms >= worst->cost_ms) worst = &reply;
  }
};

bool is_worth_telling(std::string_view code, const Group& group, double days) {
  if (code == "cpu.contended" && group.requests < kLeastContended) return false;
  const bool ordinary = std::ranges::find(kOrdinary, code) != kOrdinary.end();
  return !ordinary || (group.requests > 1 && group.cost_s / days >= kLeastOrdinary);
}

std::string text_of(const Group& group, const std::string& code) {
  const std::string times =
      group.requests == 1 ? "one reply" : fmt::format("{} replies", group.requests);
  if (group.worst->text.empty()) return fmt::format("{} had {}", times, code);
  return fmt::format("{}, the worst: {}", times, group.worst->text);
}

}  // namespace

double days_of(std::span<const PastReply> replies, std::int64_t now_us) {
  std::int64_t oldest = now_us;
  for (const PastReply& reply : replies) oldest = std::min(oldest, reply.started_us);
  const double days = static_cast<double>(now_us - oldest) / kDayUs;
  return std::clamp(days, 1.0, static_cast<double>(kDays));
}

std::vector<Finding> diagnose(const Circumstances& facts, std::span<const PastReply> replies,
                              std::int64_t now_us) {
  const double days = days_of(replies, now_us);
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const PastReply& reply : replies) {
    if (!reply.code.empty()) groups[{reply.code, reply.model}].add(reply);
  }
  std::vector<Finding> findings;
  for (const auto& [key, group] : groups) {
    const auto& [code, model] = key;
    if (!is_worth_telling(code, group, days)) continue;
    findings.push_back({code, model, group.requests, group.cost_s, group.cost_s / days,
                        text_of(group, code), remedy_for(code, model, facts)});
  }
  add_standing(findings, facts, replies, days);
  std::ranges::stable_sort(findings, std::greater{}, &Finding::seconds_per_day);
  return findings;
}

}  // namespace hearth::lab
