// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>

#include "base/json.h"
#include "lab/plain_json.h"
#include "lab/report/summary.h"

namespace hearth::lab {
namespace {

namespace json = boost::json;

json::string text_of(const std::string& text) { return json::string{repair_utf8(text)}; }

json::object interval_json(const Interval& interval) {
  return {{"low", interval.low},
          {"median", interval.middle},
          {"high", interval.high},
          {"n", interval.count},
          {"kind", interval.kind()}};
}

json::object intervals_json(const std::map<std::string, Interval>& intervals) {
  json::object object;
  for (const auto& [name, interval] : intervals)
    object[repair_utf8(name)] = interval_json(interval);
  return object;
}

json::array texts_json(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.push_back(text_of(text));
  return array;
}

json::object words_json(const std::map<std::string, std::string>& words) {
  json::object object;
  for (const auto& [key, value] : words) object[repair_utf8(key)] = text_of(value);
  return object;
}

json::value value_or_null(const std::optional<double>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

// name -> {"word": rows}.
json::object proof_json(const Cell& cell) {
  json::object proof;
  for (const auto& [name, list] : cell.words) {
    json::object counts;
    for (const auto& [word, count] : list) counts[repair_utf8(word)] = count;
    proof[repair_utf8(name)] = std::move(counts);
  }
  return proof;
}

json::array cells_json(const Summary& summary) {
  json::array cells;
  for (const Cell& cell : summary.cells) {
    json::object object{{"arm", text_of(cell.arm)},
                        {"side", text_of(cell.side)},
                        {"n", cell.counted},
                        {"flagged", cell.flagged},
                        {"failed", cell.failed},
                        {"figures", intervals_json(cell.figures)},
                        {"stages_ms", intervals_json(cell.stages_ms)},
                        {"proof", proof_json(cell)}};
    if (!cell.verdict_code.empty()) object["verdict"] = text_of(cell.verdict_code);
    if (!cell.verdict_text.empty()) object["verdict_text"] = text_of(cell.verdict_text);
    cells.push_back(std::move(object));
  }
  return cells;
}

json::array ratios_json(const Summary& summary) {
  json::array ratios;
  for (const Ratio& ratio : summary.ratios) {
    ratios.push_back(json::object{{"arm", text_of(ratio.arm)},
                                  {"side", text_of(ratio.side)},
                                  {"against", text_of(ratio.other)},
                                  {"ratio", interval_json(ratio.ratio)}});
  }
  return ratios;
}

json::array curve_json(const std::vector<Curve>& curves) {
  json::array array;
  for (const Curve& curve : curves) {
    json::array points;
    for (const Curve::Point& point : curve.points) {
      points.push_back(json::object{{"at", point.at},
                                    {"label", text_of(point.label)},
                                    {"wait_ms", interval_json(point.wait_ms)}});
    }
    array.push_back(json::object{{"side", text_of(curve.side)},
                                 {"series", text_of(curve.series)},
                                 {"points", std::move(points)}});
  }
  return array;
}

json::array worths_json(const Summary& summary) {
  json::array worths;
  for (const Additivity& worth : summary.worths) {
    json::array layers;
    for (const Additivity::Saving& saving : worth.savings) {
      layers.push_back(json::object{{"layer", text_of(saving.layer)},
                                    {"lost_alone_ms", value_or_null(saving.lost_ms)},
                                    {"kept_alone_ms", value_or_null(saving.kept_ms)}});
    }
    worths.push_back(json::object{{"side", text_of(worth.side)},
                                  {"cold_ms", worth.cold_ms},
                                  {"warm_ms", worth.warm_ms},
                                  {"lost_share", value_or_null(worth.lost_share)},
                                  {"kept_share", value_or_null(worth.kept_share)},
                                  {"arms_missing", texts_json(worth.missing)},
                                  {"sentence", text_of(sentence_of(worth))},
                                  {"layers", std::move(layers)}});
  }
  return worths;
}

}  // namespace

std::string to_json(const RunInfo& info, const Summary& summary) {
  json::object object{{"study", text_of(info.study)},
                      {"started_wall_us", info.started_wall_us},
                      {"seed", info.seed},
                      {"model", text_of(info.model)},
                      {"versions", words_json(info.versions)},
                      {"sides", texts_json(summary.sides)},
                      {"arms", texts_json(summary.arms)},
                      {"cells", cells_json(summary)},
                      {"ratios", ratios_json(summary)}};
  json::object curves;
  for (const auto& [what, list] : summary.curves) curves[what] = curve_json(list);
  object["curves"] = std::move(curves);
  object["layers"] = worths_json(summary);
  object["mixtures"] = json::parse(to_json(summary.mixtures));
  object["forecasts"] = json::parse(to_json(summary.forecasts));
  object["rows_that_do_not_count"] = summary.left_out.size();
  object["left_out"] = words_json(info.left_out);
  object["not_observable"] = texts_json(info.not_observable);
  return plain_json(object) + "\n";
}

}  // namespace hearth::lab
