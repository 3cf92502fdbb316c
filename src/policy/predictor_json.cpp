// SPDX-License-Identifier: Apache-2.0
#include "policy/predictor_json.h"

#include <boost/json.hpp>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/json.h"

namespace hearth {
namespace {

namespace json = boost::json;

constexpr std::int64_t kVersion = 1;
constexpr double kLongest = 1e6;  // seconds

json::array json_of(const std::vector<double>& values) {
  return json::array(values.begin(), values.end());
}

json::array json_of(const PastStart& start) {
  const StartParts& parts = start.parts;
  return {name_of(start.start_class),
          start.fresh_tokens,
          start.seconds,
          start.forecast,
          parts.spawn,
          parts.setup,
          parts.read,
          parts.repack,
          parts.overhead,
          parts.layers,
          parts.beside};
}

json::object json_of(const ModelNotes& notes) {
  json::array prefills, starts;
  for (const PrefillSample& one : notes.prefills) {
    prefills.push_back(json::array{one.tokens, one.seconds});
  }
  for (const PastStart& start : notes.starts) starts.push_back(json_of(start));
  return {{"weights", notes.weights.count()}, {"setup_guess", notes.setup_guess},
          {"vocabulary", notes.vocabulary},   {"prefills", std::move(prefills)},
          {"spawns", json_of(notes.spawns)},  {"services", json_of(notes.services)},
          {"starts", std::move(starts)},      {"noted", notes.noted}};
}

// What follows throws std::exception at anything unexpected; predictor_from_json() catches it.

double number_of(const json::value& value) {
  const double number = value.to_number<double>();
  if (!std::isfinite(number) || number < 0) throw std::range_error{"a number is out of range"};
  return number;
}

double seconds_of(const json::value& value) {
  const double seconds = number_of(value);
  if (seconds > kLongest) throw std::range_error{"a time is out of range"};
  return seconds;
}

int count_of(const json::value& value) {
  const int count = value.to_number<int>();
  if (count < 0) throw std::range_error{"a count is out of range"};
  return count;
}

const json::array& list_of(const json::value& value) {
  const json::array& list = value.as_array();
  if (list.size() > Predictor::kKept) throw std::range_error{"a list is too long"};
  return list;
}

std::vector<double> numbers_of(const json::value& value) {
  std::vector<double> numbers;
  for (const json::value& one : list_of(value)) numbers.push_back(number_of(one));
  return numbers;
}

PastStart start_of(const json::array& list) {
  const auto start_class = start_class_named(std::string_view{list.at(0).as_string()});
  if (!start_class) throw std::range_error{"a class is not known"};
  PastStart start;
  start.start_class = *start_class;
  start.fresh_tokens = count_of(list.at(1));
  start.seconds = seconds_of(list.at(2));
  start.forecast = seconds_of(list.at(3));
  StartParts& parts = start.parts;
  double* const times[] = {&parts.spawn, &parts.setup, &parts.read, &parts.repack, &parts.overhead};
  std::size_t at = 4;
  for (double* time : times) *time = seconds_of(list.at(at++));
  parts.layers = count_of(list.at(at));
  parts.beside = count_of(list.at(at + 1));
  if (start.seconds <= 0) throw std::range_error{"a start took no time"};
  return start;
}

ModelNotes notes_of(const json::object& object) {
  ModelNotes notes;
  notes.weights = Bytes{object.at("weights").to_number<std::uint64_t>()};
  notes.setup_guess = seconds_of(object.at("setup_guess"));
  notes.vocabulary = count_of(object.at("vocabulary"));
  for (const json::value& one : list_of(object.at("prefills"))) {
    const PrefillSample sample{count_of(one.as_array().at(0)), seconds_of(one.as_array().at(1))};
    if (sample.tokens < 1 || sample.seconds <= 0) throw std::range_error{"a prefill of nothing"};
    notes.prefills.push_back(sample);
  }
  notes.spawns = numbers_of(object.at("spawns"));
  notes.services = numbers_of(object.at("services"));
  for (const json::value& one : list_of(object.at("starts"))) {
    notes.starts.push_back(start_of(one.as_array()));
  }
  notes.noted = object.at("noted").to_number<std::uint64_t>();
  return notes;
}

Predictor predictor_of(const json::object& object) {
  if (object.at("version").as_int64() != kVersion) throw std::range_error{"of another version"};
  const json::object& named = object.at("models").as_object();
  if (named.size() > Predictor::kMaxModels) throw std::range_error{"too many models"};
  Predictor::Models models;
  for (const auto& [name, notes] : named) models[name] = notes_of(notes.as_object());
  Predictor predictor;
  predictor.restore(std::move(models), numbers_of(object.at("repack_rates")));
  return predictor;
}

}  // namespace

std::string to_json(const Predictor& predictor) {
  json::object models;
  for (const auto& [name, notes] : predictor.models()) models[name] = json_of(notes);
  return json::serialize(json::object{{"version", kVersion},
                                      {"models", std::move(models)},
                                      {"repack_rates", json_of(predictor.repack_rates())}});
}

Result<Predictor> predictor_from_json(std::string_view text) {
  const Result<json::value> parsed = parse_json(text);
  if (!parsed) return fail(ErrorCode::kCorrupt, parsed.error().message());
  try {
    return predictor_of(parsed->as_object());
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

}  // namespace hearth
