// SPDX-License-Identifier: Apache-2.0
#include "cli/model_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/model_fields.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

// Less of a file in memory than this is its header, not a warm model.
constexpr double kNoPages = 0.01;

// How many tokens the worker has room for now.
std::string cells_text(const boost::json::object& model) {
  const auto* worker = object_in(model, "worker");
  const std::int64_t cells = worker == nullptr ? 0 : integer_in(*worker, "context");
  return cells > 0 ? format_grouped(static_cast<std::uint64_t>(cells)) : std::string{kNothing};
}

}  // namespace

bool is_stone_cold(const boost::json::object& model) {
  if (object_in(model, "worker") != nullptr) return false;
  const std::string weights = level_of(model, "weights");
  if (!weights.empty() && weights != "none") return false;
  const std::string prefix = level_of(model, "prefix");
  if (prefix == "in RAM" || prefix == "live") return false;
  const auto* pages = layer_in(model, "pages");
  return pages == nullptr || number_in(*pages, "fraction").value_or(0) < kNoPages;
}

std::string models_table(const boost::json::array& models, std::int64_t now_us,
                         const OutputStyle& style) {
  Table table{{{"NAME"},
               {"SIZE", Align::kRight},
               {"QUANT", Align::kLeft, 4},
               {"PARAMS", Align::kRight, 3},
               {"CONTEXT", Align::kRight, 1},
               {"LAST USED", Align::kLeft, 2},
               {"STATUS"}}};
  for (const auto& value : models) {
    const auto* model = value.if_object();
    if (model == nullptr) continue;
    std::string status = text_in(*model, "status");
    const std::string reason = text_in(*model, "reason");
    if (!reason.empty()) status += ": " + reason;
    table.add({text_in(*model, "name"), bytes_text(*model, "size"),
               or_nothing(text_in(*model, "quantization")), parameters_text(*model),
               context_text(*model), last_used_text(*model, now_us), std::move(status)});
  }
  return table.render(style);
}

std::string levels_table(const boost::json::array& models, const ModelNotes& notes,
                         std::int64_t now_us, const OutputStyle& style) {
  Table table{{{"NAME"},
               {"ARTIFACT", Align::kLeft, 4},
               {"PAGES"},
               {"WEIGHTS"},
               {"COMPILED", Align::kLeft, 3},
               {"PREFIX", Align::kLeft, 6},
               {"MEMORY", Align::kRight},
               {"CONTEXT", Align::kRight, 5},
               {"TTFT NOW", Align::kRight, 2},
               {"UNTIL"},
               {"BUSY", Align::kLeft, 1}}};
  for (const auto& value : models) {
    const auto* model = value.if_object();
    if (model == nullptr) continue;
    std::vector<std::string> cells{text_in(*model, "name")};
    for (const std::string_view layer : kLayers) cells.push_back(layer_text(*model, layer));
    cells.push_back(memory_text(*model));
    cells.push_back(cells_text(*model));
    cells.push_back(ttft_text(*model));
    cells.push_back(until_text(*model, now_us));
    cells.push_back(busy_text(*model));
    table.add(std::move(cells));
    const auto note = notes.find(text_in(*model, "name"));
    if (note != notes.end()) table.note(note->second);
  }
  return table.empty() ? std::string{} : table.render(style);
}

std::string level_sentence(const boost::json::object& model, std::string_view layer) {
  std::string text =
      fmt::format("{}: {} {}", one_line(text_in(model, "name")), layer, layer_text(model, layer));
  if (const std::string memory = memory_text(model); memory != kNothing) {
    text += ", the worker holds " + memory;
  }
  return text + "\n";
}

std::string pins_sentence(const boost::json::object& model, std::string_view layer) {
  const std::vector<std::string> pins = texts_in(model, "pinned");
  std::string text = one_line(text_in(model, "name")) + ": ";
  if (pins.empty()) {
    text += "nothing is pinned";
  } else {
    text += fmt::format("{} are pinned", fmt::join(pins, " and "));
  }
  if (!layer.empty()) text += fmt::format("; {} {}", layer, layer_text(model, layer));
  return text + "\n";
}

std::string rescanned_sentence(std::size_t models) {
  return models == 1 ? "1 model is listed now\n"
                     : fmt::format("{} models are listed now\n", models);
}

}  // namespace hearth::cli
