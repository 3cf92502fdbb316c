// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/warm_notes.h"

#include <boost/json.hpp>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/json.h"
#include "front/prewarm/prewarm_notes_json.h"

namespace hearth::front {
namespace json = boost::json;
namespace {

constexpr std::int64_t kVersion = 1;
constexpr double kPercent = 100;

json::object object_of(const IdlePeriod& period) {
  json::object object{{"at_us", period.at_us},
                      {"gap_ns", period.gap.count()},
                      {"kind", name_of(period.kind)},
                      {"psi_rise", period.psi_rise},
                      {"harmed", period.harmed}};
  if (period.ttft) object["ttft_ns"] = period.ttft->count();
  return object;
}

json::object object_of(const WarmNotes& notes) {
  json::array periods;
  for (const IdlePeriod& period : notes.claim.periods) periods.push_back(object_of(period));
  json::object object{{"periods", std::move(periods)},
                      {"probed", notes.claim.probed},
                      {"distrusted", name_of(notes.choice.distrusted)},
                      {"distrusted_until_ns", notes.choice.distrusted_until.count()}};
  if (notes.claim.touched) object["touched_ns"] = notes.claim.touched->count();
  if (notes.psi_base) object["psi_base"] = *notes.psi_base;
  return object;
}

// What follows throws std::exception at anything unexpected.

double percent_of(const json::value& value) {
  const double percent = value.to_number<double>();
  if (!(percent >= 0 && percent <= kPercent)) throw std::range_error{"a share is out of range"};
  return percent;
}

IdlePeriod period_of(const json::object& object) {
  IdlePeriod period;
  period.at_us = object.at("at_us").to_number<std::int64_t>();
  period.gap = kept_duration_of(object.at("gap_ns"));
  const json::string& kind = object.at("kind").as_string();
  if (kind != name_of(WarmKind::kProbe) && kind != name_of(WarmKind::kRequest)) {
    throw std::range_error{"a kind is not known"};
  }
  period.kind = kind == name_of(WarmKind::kProbe) ? WarmKind::kProbe : WarmKind::kRequest;
  period.psi_rise = percent_of(object.at("psi_rise"));
  period.harmed = object.at("harmed").as_bool();
  if (const json::value* ttft = object.if_contains("ttft_ns")) {
    period.ttft = kept_duration_of(*ttft);
  }
  return period;
}

WarmNotes notes_of(const json::object& object) {
  WarmNotes notes;
  const json::array& periods = object.at("periods").as_array();
  if (periods.size() > WarmClaim::kMost) throw std::range_error{"too many idle periods"};
  for (const json::value& period : periods) {
    notes.claim.periods.push_back(period_of(period.as_object()));
  }
  notes.claim.probed = object.at("probed").as_bool();
  const std::optional<Rung> rung = rung_named(object.at("distrusted").as_string());
  if (!rung) throw std::range_error{"a rung is not known"};
  notes.choice = {*rung, kept_duration_of(object.at("distrusted_until_ns"))};
  if (const json::value* touched = object.if_contains("touched_ns")) {
    notes.claim.touched = kept_duration_of(*touched);
  }
  if (const json::value* base = object.if_contains("psi_base")) notes.psi_base = percent_of(*base);
  return notes;
}

WarmBook book_of(const json::object& object) {
  if (object.at("version").as_int64() != kVersion) throw std::range_error{"of another version"};
  WarmBook book;
  book.time = lasting_notes_of(object.at("time").as_object());
  const json::object& models = object.at("models").as_object();
  if (models.size() > WarmBook::kMostModels) throw std::range_error{"too many models"};
  for (const auto& [artifact, notes] : models) {
    book.models[artifact] = notes_of(notes.as_object());
  }
  return book;
}

}  // namespace

std::string to_json(const WarmBook& book) {
  json::object models;
  for (const auto& [artifact, notes] : book.models) models[artifact] = object_of(notes);
  return json::serialize(json::object{
      {"version", kVersion}, {"time", object_of(book.time)}, {"models", std::move(models)}});
}

Result<WarmBook> warm_book_from_json(std::string_view text) {
  const Result<json::value> parsed = parse_json(text);
  if (!parsed) return fail(ErrorCode::kCorrupt, parsed.error().message());
  try {
    return book_of(parsed->as_object());
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

}  // namespace hearth::front
