// SPDX-License-Identifier: Apache-2.0
#include "lab/report/csv.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "lab/report/figures.h"

namespace hearth::lab {
namespace {

std::string quoted(std::string_view text) {
  const bool formula = !text.empty() && std::string_view{"=+-@\t\r"}.find(text[0]) != text.npos;
  std::string cell = formula ? "'" : "";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos;
  return plain ? cell : '"' + cell + '"';
}

std::string number(double value) { return fmt::format("{}", value); }

class Line {
 public:
  Line& text(std::string_view cell) { return raw(quoted(cell)); }
  Line& value(const std::optional<double>& cell) { return raw(cell ? number(*cell) : ""); }
  Line& raw(const std::string& cell) {
    if (!first_) line_ += ',';
    first_ = false;
    line_ += cell;
    return *this;
  }
  std::string end() const { return line_ + "\r\n"; }

 private:
  std::string line_;
  bool first_ = true;
};

// The columns that not every run has.
struct Columns {
  std::set<std::string> stages, extras, stalls, words;
};

Columns columns_of(const std::vector<Trial>& rows) {
  Columns columns;
  columns.words = {"mapped", "pages_by"};
  for (const Trial& row : rows) {
    for (const auto& each : row.timing.stages_ms) columns.stages.insert(each.first);
    for (const auto& each : row.extra) columns.extras.insert(each.first);
    for (const auto& each : row.effects.stall) columns.stalls.insert(each.first);
    for (const auto& each : proof_words(row)) columns.words.insert(each.first);
  }
  return columns;
}

std::optional<double> found(const std::map<std::string, double>& values, const std::string& key) {
  const auto at = values.find(key);
  return at == values.end() ? std::nullopt : std::optional{at->second};
}

std::string heading(const Columns& columns) {
  Line line;
  for (const char* name : {"study", "side", "arm", "model", "block", "order", "repetition",
                           "started_wall_us", "counts", "why_not"}) {
    line.raw(name);
  }
  for (const Figure& figure : all_figures()) line.text(figure.name);
  for (const std::string& stage : columns.stages) line.text("stage." + stage + "_ms");
  for (const std::string& name : columns.extras) line.text(name);
  for (const std::string& name : columns.stalls) line.text("stall." + name);
  for (const std::string& name : columns.words) line.text(name);
  for (const char* name :
       {"outside_cores", "swapped", "generated_tokens", "class", "verdict", "verdict_text"}) {
    line.raw(name);
  }
  return line.end();
}

std::string why_not(const Trial& row) {
  std::string why = row.failure;
  for (const std::string& flag : row.flags) why += (why.empty() ? "" : "; ") + flag;
  return why;
}

std::string line_of(const Trial& row, const Columns& columns) {
  Line line;
  line.text(row.study).text(row.side).text(row.arm).text(row.model);
  line.raw(fmt::format("{},{},{},{},{}", row.block, row.order, row.repetition, row.started_wall_us,
                       row.counts() ? 1 : 0));
  line.text(why_not(row));
  for (const Figure& figure : all_figures()) line.value(figure.read(row));
  for (const std::string& name : columns.stages) line.value(found(row.timing.stages_ms, name));
  for (const std::string& name : columns.extras) line.value(found(row.extra, name));
  for (const std::string& name : columns.stalls) line.value(found(row.effects.stall, name));
  const std::map<std::string, std::string> words = proof_words(row);
  for (const std::string& name : columns.words) {
    const auto word = words.find(name);
    line.text(word == words.end() ? std::string{} : word->second);
  }
  line.value(row.effects.outside_cores).raw(fmt::format("{}", row.effects.swapped.count()));
  line.raw(fmt::format("{}", row.timing.generated_tokens));
  line.text(row.response_class).text(row.verdict_code);
  return line.text(row.verdict_text).end();
}

}  // namespace

std::string csv_of(const std::vector<Trial>& rows) {
  const Columns columns = columns_of(rows);
  std::string text = heading(columns);
  for (const Trial& row : rows) text += line_of(row, columns);
  return text;
}

}  // namespace hearth::lab
