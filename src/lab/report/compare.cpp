// SPDX-License-Identifier: Apache-2.0
#include "lab/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json.h"
#include "lab/plain_json.h"

namespace hearth::lab {
namespace {

namespace json = boost::json;

constexpr double kNoticeable = 0.05;
constexpr std::size_t kFewest = 3;

ChangeVerdict verdict_of(const Change& change) {
  if (change.change.low > 1 && change.change.middle > 1 + kNoticeable) {
    return ChangeVerdict::kSlower;
  }
  if (change.change.high < 1 && change.change.middle < 1 - kNoticeable) {
    return ChangeVerdict::kFaster;
  }
  return ChangeVerdict::kNoneToTell;
}

Change change_of(const Cell& before, const Cell& after, double confidence) {
  Change change{before.side, before.arm, {}, {}, {}, ChangeVerdict::kTooFew};
  if (const auto old_wait = median_interval(before.waits_ms)) change.before_ms = *old_wait;
  if (const auto new_wait = median_interval(after.waits_ms)) change.after_ms = *new_wait;
  const auto interval = change_interval(before.waits_ms, after.waits_ms, 1, confidence);
  if (interval) change.change = *interval;
  const bool enough = std::min(before.waits_ms.size(), after.waits_ms.size()) >= kFewest;
  if (interval && enough) change.verdict = verdict_of(change);
  return change;
}

std::vector<std::string> missing_in(const Summary& there, const Summary& here) {
  std::vector<std::string> names;
  for (const Cell& cell : here.cells) {
    if (there.cell(cell.side, cell.arm) == nullptr) names.push_back(cell.side + ": " + cell.arm);
  }
  return names;
}

// "processors/model", as JSON; empty where there is none.
std::string machine_member(const RunInfo& info, std::string_view pointer) {
  const auto machine = parse_json(info.machine);
  if (!machine) return {};
  json::error_code missing;
  const json::value* found = machine->find_pointer(pointer, missing);
  return found == nullptr ? std::string{} : json::serialize(*found);
}

std::string told(const std::string& text) { return text.empty() ? "unknown" : text; }

// How a run was made; its models have a caution of their own.
json::object options_of(const RunInfo& info) {
  const auto options = parse_json(info.options);
  if (!options || !options->is_object()) return {};
  json::object object = options->get_object();
  object.erase("models");
  return object;
}

void add_options(std::vector<std::string>& cautions, const RunInfo& before, const RunInfo& after) {
  const json::object was = options_of(before), is = options_of(after);
  std::set<std::string> names;
  for (const auto& each : was) names.emplace(each.key());
  for (const auto& each : is) names.emplace(each.key());
  const auto text = [](const json::object& options, const std::string& name) {
    const json::value* found = options.if_contains(name);
    return found == nullptr ? "not given" : plain_json(*found);
  };
  for (const std::string& name : names) {
    const std::string old_text = text(was, name), new_text = text(is, name);
    if (old_text == new_text) continue;
    cautions.push_back(
        fmt::format("the options differ in {}: {} and {}", name, old_text, new_text));
  }
}

void add_versions(std::vector<std::string>& cautions, const RunInfo& before, const RunInfo& after) {
  for (const auto& [side, was] : before.versions) {
    const auto is = after.versions.find(side);
    if (is == after.versions.end() || is->second == was) continue;
    cautions.push_back(
        fmt::format("the versions of {} differ: {} and {}", side, told(was), told(is->second)));
  }
}

std::vector<std::string> cautions_of(const RunInfo& before, const RunInfo& after) {
  std::vector<std::string> cautions;
  if (before.model != after.model) {
    cautions.push_back("the models differ: " + told(before.model) + " and " + told(after.model));
  }
  if (before.study != after.study) {
    cautions.push_back("the studies differ: " + told(before.study) + " and " + told(after.study));
  }
  for (const char* what : {"/kernel", "/architecture", "/processors/model", "/processors/online",
                           "/memory/total_bytes", "/limits"}) {
    const std::string was = machine_member(before, what);
    const std::string is = machine_member(after, what);
    if (was == is) continue;
    cautions.push_back(
        fmt::format("the machines differ in {}: {} and {}", what + 1, told(was), told(is)));
  }
  add_options(cautions, before, after);
  add_versions(cautions, before, after);
  return cautions;
}

json::object interval_json(const Interval& interval) {
  return {{"low", interval.low},
          {"median", interval.middle},
          {"high", interval.high},
          {"n", interval.count},
          {"kind", interval.kind()}};
}

json::array texts_json(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(repair_utf8(text));
  return array;
}

int rank_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kSlower:
      return 0;
    case ChangeVerdict::kNoneToTell:
      return 2;
    case ChangeVerdict::kTooFew:
      return 3;
    case ChangeVerdict::kFaster:
      return 1;
  }
  return 4;
}

}  // namespace

std::string_view name_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kSlower:
      return "slower";
    case ChangeVerdict::kFaster:
      return "faster";
    case ChangeVerdict::kNoneToTell:
      return "no change that can be told";
    case ChangeVerdict::kTooFew:
      return "too few to tell";
  }
  return {};
}

bool Comparison::regressed() const {
  return std::ranges::any_of(
      changes, [](const Change& each) { return each.verdict == ChangeVerdict::kSlower; });
}

Comparison compare(const RunInfo& before_info, const std::vector<Trial>& before,
                   const RunInfo& after_info, const std::vector<Trial>& after) {
  const Summary was = summarise(before_info, before);
  const Summary is = summarise(after_info, after);
  std::vector<std::pair<const Cell*, const Cell*>> both;
  for (const Cell& cell : was.cells) {
    if (const Cell* same = is.cell(cell.side, cell.arm)) both.emplace_back(&cell, same);
  }
  Comparison comparison;
  const auto looked_at = static_cast<double>(std::max<std::size_t>(both.size(), 1));
  const double confidence = 1 - (1 - kUsualConfidence) / looked_at;
  for (const auto& [old_cell, new_cell] : both) {
    comparison.changes.push_back(change_of(*old_cell, *new_cell, confidence));
  }
  std::ranges::stable_sort(comparison.changes, {},
                           [](const Change& each) { return rank_of(each.verdict); });
  comparison.only_before = missing_in(is, was);
  comparison.only_after = missing_in(was, is);
  comparison.cautions = cautions_of(before_info, after_info);
  return comparison;
}

std::string to_json(const Comparison& comparison) {
  json::array changes;
  for (const Change& change : comparison.changes) {
    changes.push_back(json::object{{"side", repair_utf8(change.side)},
                                   {"arm", repair_utf8(change.arm)},
                                   {"verdict", name_of(change.verdict)},
                                   {"before_ms", interval_json(change.before_ms)},
                                   {"after_ms", interval_json(change.after_ms)},
                                   {"change", interval_json(change.change)}});
  }
  return plain_json(json::object{{"regressed", comparison.regressed()},
                                 {"changes", std::move(changes)},
                                 {"only_before", texts_json(comparison.only_before)},
                                 {"only_after", texts_json(comparison.only_after)},
                                 {"cautions", texts_json(comparison.cautions)}});
}

}  // namespace hearth::lab
