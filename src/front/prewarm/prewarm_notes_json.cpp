// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/prewarm_notes_json.h"

#include <boost/json.hpp>
#include <stdexcept>
#include <utility>

#include "policy/arrivals_json.h"

namespace hearth::front {
namespace json = boost::json;
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
constexpr double kMostFigure = 1e12;
constexpr std::size_t kLongestBoot = 64;

Bytes bytes_of(const json::value& value) {
  const auto count = value.to_number<std::uint64_t>();
  if (count > kMostBytes) throw std::range_error{"a size is out of range"};
  return Bytes{count};
}

double figure_of(const json::value& value) {
  const double figure = value.to_number<double>();
  if (!(figure >= 0 && figure <= kMostFigure)) throw std::range_error{"a figure is out of range"};
  return figure;
}

PrewarmNotes::Model model_of(const json::object& object) {
  PrewarmNotes::Model model;
  model.account.read = bytes_of(object.at("read"));
  model.account.used = bytes_of(object.at("used"));
  model.account.wasted = bytes_of(object.at("wasted"));
  model.account.gib_hours = figure_of(object.at("gib_hours"));
  model.account.saved_s = figure_of(object.at("saved_s"));
  model.account.pauses = static_cast<int>(object.at("pauses").to_number<std::uint16_t>());
  model.unused = bytes_of(object.at("unused"));
  model.rests_until = kept_duration_of(object.at("rests_until_ns"));
  return model;
}

}  // namespace

json::object object_of(const PrewarmNotes& notes) {
  json::object models;
  for (const auto& [artifact, model] : notes.models) {
    models[artifact] = json::object{
        {"read", model.account.read.count()},     {"used", model.account.used.count()},
        {"wasted", model.account.wasted.count()}, {"gib_hours", model.account.gib_hours},
        {"saved_s", model.account.saved_s},       {"pauses", model.account.pauses},
        {"unused", model.unused.count()},         {"rests_until_ns", model.rests_until.count()}};
  }
  return {{"models", std::move(models)},
          {"day_left", notes.day_left.count()},
          {"earned", notes.earned.count()},
          {"at_ns", notes.at.count()}};
}

json::object object_of(const LastingNotes& notes) {
  return {{"ns", notes.time.count()},
          {"seen", json::array{notes.seen.boot.count(), notes.seen.local_s}},
          {"boot", notes.boot}};
}

PrewarmNotes prewarm_notes_of(const json::object& object) {
  PrewarmNotes notes;
  const json::object& models = object.at("models").as_object();
  if (models.size() > kMaxArrivalModels) throw std::range_error{"too many models"};
  for (const auto& [artifact, model] : models) {
    notes.models[artifact] = model_of(model.as_object());
  }
  notes.at = kept_duration_of(object.at("at_ns"));
  notes.day_left = bytes_of(object.at("day_left"));
  notes.earned = bytes_of(object.at("earned"));
  return notes;
}

LastingNotes lasting_notes_of(const json::object& object) {
  LastingNotes notes;
  notes.time = kept_duration_of(object.at("ns"));
  const json::array& seen = object.at("seen").as_array();
  if (seen.size() != 2) throw std::range_error{"a moment is odd"};
  notes.seen = {kept_duration_of(seen[0]), seen[1].to_number<std::int64_t>()};
  notes.boot = object.at("boot").as_string().c_str();
  if (notes.boot.size() > kLongestBoot) throw std::range_error{"the name of a boot is too long"};
  return notes;
}

Duration kept_duration_of(const json::value& value) {
  const Duration time{value.to_number<std::int64_t>()};
  if (time < Duration{} || time > Duration::max() / 2) throw std::range_error{"a time is odd"};
  return time;
}

}  // namespace hearth::front
