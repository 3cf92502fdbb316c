// SPDX-License-Identifier: Apache-2.0
#include "policy/arrivals_json.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/json.h"

namespace hearth {
namespace {

namespace json = boost::json;

constexpr std::int64_t kVersion = 1;
constexpr double kMostCounted = 1e9;

json::object json_of(const ArrivalNotes& notes) {
  json::array hours, recent;
  for (const ArrivalNotes::Hour& hour : notes.hours) {
    hours.push_back(json::array{hour.bouts, hour.watched});
  }
  for (const Duration at : notes.recent) recent.push_back(at.count());
  json::object object{{"hours", std::move(hours)},
                      {"pauses", json::array(notes.pauses.begin(), notes.pauses.end())},
                      {"watched_ns", notes.watched.count()},
                      {"recent_ns", std::move(recent)},
                      {"rate_weight", notes.rate_weight}};
  if (notes.seen) object["seen"] = json::array{notes.seen->boot.count(), notes.seen->local_s};
  return object;
}

// What follows throws std::exception at anything unexpected; arrivals_from_json() catches it.

double count_of(const json::value& value) {
  const double count = value.to_number<double>();
  if (!(count >= 0 && count <= kMostCounted)) throw std::range_error{"a count is out of range"};
  return count;
}

// Half of what fits, so that sums of two do.
Duration time_of(const json::value& value) {
  const Duration time{value.to_number<std::int64_t>()};
  if (time < Duration{} || time > Duration::max() / 2) throw std::range_error{"a time is odd"};
  return time;
}

const json::array& list_of(const json::value& value, std::size_t least, std::size_t most) {
  const json::array& list = value.as_array();
  if (list.size() < least || list.size() > most) throw std::range_error{"a list's length is odd"};
  return list;
}

ArrivalNotes notes_of(const json::object& object) {
  ArrivalNotes notes;
  const json::array& hours = list_of(object.at("hours"), notes.hours.size(), notes.hours.size());
  for (std::size_t i = 0; i < hours.size(); ++i) {
    const json::array& pair = list_of(hours[i], 2, 2);
    notes.hours[i] = {count_of(pair[0]), count_of(pair[1])};
  }
  const json::array& pauses =
      list_of(object.at("pauses"), notes.pauses.size(), notes.pauses.size());
  std::ranges::transform(pauses, notes.pauses.begin(), count_of);
  notes.watched = time_of(object.at("watched_ns"));
  for (const json::value& at : list_of(object.at("recent_ns"), 0, ArrivalNotes::kRecent)) {
    notes.recent.push_back(time_of(at));
  }
  if (!std::ranges::is_sorted(notes.recent) ||
      (!notes.recent.empty() && notes.recent.back() > notes.watched)) {
    throw std::range_error{"arrivals are out of order"};
  }
  notes.rate_weight = count_of(object.at("rate_weight"));
  if (const json::value* seen = object.if_contains("seen")) {
    const json::array& pair = list_of(*seen, 2, 2);
    notes.seen = Instant{time_of(pair[0]), pair[1].to_number<std::int64_t>()};
  }
  return notes;
}

Arrivals arrivals_of(const json::object& object) {
  if (object.at("version").as_int64() != kVersion) throw std::range_error{"of another version"};
  const json::object& named = object.at("models").as_object();
  if (named.size() > kMaxArrivalModels) throw std::range_error{"too many models"};
  Arrivals arrivals;
  for (const auto& [name, notes] : named) {
    arrivals.emplace(name, ArrivalModel{notes_of(notes.as_object())});
  }
  return arrivals;
}

}  // namespace

std::string to_json(const Arrivals& arrivals) {
  json::object models;
  for (const auto& [name, model] : arrivals) models[name] = json_of(model.notes());
  return json::serialize(json::object{{"version", kVersion}, {"models", std::move(models)}});
}

Result<Arrivals> arrivals_from_json(std::string_view text) {
  const Result<json::value> parsed = parse_json(text);
  if (!parsed) return fail(ErrorCode::kCorrupt, parsed.error().message());
  try {
    return arrivals_of(parsed->as_object());
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

}  // namespace hearth
