// SPDX-License-Identifier: Apache-2.0
#include "cli/model_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/bytes.h"
#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

// Less of a file in memory than this is its header, not a warm model.
constexpr double kNoPages = 0.01;

constexpr std::string_view kNothing = "-";

std::string or_nothing(std::string text) { return text.empty() ? std::string{kNothing} : text; }

std::string bytes_text(const boost::json::object& object, std::string_view name) {
  const std::int64_t bytes = integer_in(object, name);
  return bytes > 0 ? format_bytes(Bytes{static_cast<std::uint64_t>(bytes)}) : std::string{kNothing};
}

std::string parameters_text(const boost::json::object& model) {
  const std::int64_t count = integer_in(model, "parameters");
  return count > 0 ? format_count(static_cast<std::uint64_t>(count)) : std::string{kNothing};
}

std::string context_text(const boost::json::object& model) {
  const std::int64_t tokens = integer_in(model, "trained_context");
  return tokens > 0 ? format_grouped(static_cast<std::uint64_t>(tokens)) : std::string{kNothing};
}

std::string last_used_text(const boost::json::object& model, std::int64_t now_us) {
  return format_age(seconds_since(model, "last_used_us", now_us));
}

// What a process holds, on the machine and on its devices.
std::string memory_text(const boost::json::object& model) {
  const auto* worker = object_in(model, "worker");
  if (worker == nullptr) return std::string{kNothing};
  std::string text = bytes_text(*worker, "resident_bytes");
  const std::int64_t device = integer_in(*worker, "device_bytes");
  if (device > 0) text += fmt::format(" + {} device", bytes_text(*worker, "device_bytes"));
  return text;
}

std::string ttft_text(const boost::json::object& model) {
  const auto ms = number_in(model, "predicted_ttft_ms");
  return ms ? format_milliseconds(*ms) : std::string{kNothing};
}

std::string busy_text(const boost::json::object& model) {
  const std::int64_t active = integer_in(model, "active");
  const std::int64_t queued = integer_in(model, "queued");
  if (active == 0 && queued == 0) return std::string{kNothing};
  if (queued == 0) return fmt::format("{} active", active);
  return fmt::format("{} active, {} queued", active, queued);
}

const boost::json::object* layer_in(const boost::json::object& model, std::string_view name) {
  const auto* layers = object_in(model, "layers");
  return layers == nullptr ? nullptr : object_in(*layers, name);
}

std::string layer_text(const boost::json::object& model, std::string_view name) {
  const auto* layer = layer_in(model, name);
  return layer == nullptr ? std::string{kNothing} : level_text(name, *layer);
}

std::string level_of(const boost::json::object& model, std::string_view name) {
  const auto* layer = layer_in(model, name);
  return layer == nullptr ? std::string{} : text_in(*layer, "level");
}

// "resident 40%     38.1 MiB of 95.3 MiB  read 3 h ago"
std::string layer_details(std::string_view name, const boost::json::object& layer) {
  std::string text = level_text(name, layer);
  const std::string detail = text_in(layer, "detail");
  const bool holds_bytes = integer_in(layer, "bytes") > 0;
  if (holds_bytes || !detail.empty()) text = pad_right(std::move(text), 15);
  if (holds_bytes) text += "  " + bytes_text(layer, "bytes");
  if (holds_bytes && integer_in(layer, "total") > 0) text += " of " + bytes_text(layer, "total");
  return detail.empty() ? text : text + "  " + detail;
}

class Details {
 public:
  explicit Details(const OutputStyle& style) : style_{style} {}

  void line(std::string_view key, std::string_view value) {
    if (value.empty() || value == kNothing) return;
    const std::string clean = one_line(value);
    text_ += style_.terminal ? style_.paint(Paint::kDim, pad_right(std::string{key}, kKeyWidth)) +
                                   "  " + clean.substr(0, clean.find_last_not_of(' ') + 1)
                             : fmt::format("{}\t{}", key, clean);
    text_ += '\n';
  }

  std::string take() && { return std::move(text_); }

 private:
  static constexpr std::size_t kKeyWidth = 12;
  const OutputStyle& style_;
  std::string text_;
};

void add_worker(Details& details, const boost::json::object& worker) {
  details.line("worker",
               fmt::format("pid {}, up {}", integer_in(worker, "pid"),
                           format_milliseconds(number_in(worker, "uptime_ms").value_or(0))));
  details.line("memory", fmt::format("{}, of it {} private", bytes_text(worker, "resident_bytes"),
                                     bytes_text(worker, "anonymous_bytes")));
  details.line("device", bytes_text(worker, "device_bytes"));
  details.line("backend", text_in(worker, "backend"));
  details.line("engine", text_in(worker, "engine"));
  const std::int64_t cells = integer_in(worker, "context");
  if (cells > 0)
    details.line("cells", format_grouped(static_cast<std::uint64_t>(cells)) + " tokens");
}

void add_file(Details& details, const boost::json::object& model) {
  details.line("size", bytes_text(model, "size"));
  details.line("architecture", text_in(model, "architecture"));
  details.line("quantization", text_in(model, "quantization"));
  details.line("parameters", parameters_text(model));
  details.line("context", context_text(model));
  const std::int64_t embedding = integer_in(model, "embedding_length");
  if (embedding > 0) details.line("embedding", std::to_string(embedding));
  details.line("template",
               flag_in(model, "has_chat_template") ? "the model's own" : "none; ChatML is used");
  details.line("license", text_in(model, "license"));
  details.line("artifact", text_in(model, "artifact"));
  const auto* paths = array_in(model, "paths");
  if (paths == nullptr) return;
  for (const auto& path : *paths) {
    if (path.is_string()) details.line("file", std::string{path.get_string()});
  }
}

}  // namespace

std::string level_text(std::string_view name, const boost::json::object& layer) {
  const std::string level = text_in(layer, "level");
  const bool has_share =
      level == "resident" || level == "pinned" || level == "partial" || level == "loading";
  const bool is_loaded = name == "weights" && level == "resident";
  if (!has_share || is_loaded) return or_nothing(level);
  return level + " " + format_percent(number_in(layer, "fraction").value_or(0));
}

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
               {"QUANT"},
               {"PARAMS", Align::kRight},
               {"CONTEXT", Align::kRight},
               {"LAST USED"},
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

std::string levels_table(const boost::json::array& models, const OutputStyle& style) {
  Table table{{{"NAME"},
               {"ARTIFACT"},
               {"PAGES"},
               {"WEIGHTS"},
               {"COMPILED"},
               {"PREFIX"},
               {"MEMORY", Align::kRight},
               {"TTFT NOW", Align::kRight},
               {"BUSY"}}};
  for (const auto& value : models) {
    const auto* model = value.if_object();
    if (model == nullptr) continue;
    std::vector<std::string> cells{text_in(*model, "name")};
    for (const std::string_view layer : kLayers) cells.push_back(layer_text(*model, layer));
    cells.push_back(memory_text(*model));
    cells.push_back(ttft_text(*model));
    cells.push_back(busy_text(*model));
    table.add(std::move(cells));
  }
  return table.empty() ? std::string{} : table.render(style);
}

std::string model_details(const boost::json::object& model, std::int64_t now_us,
                          const OutputStyle& style) {
  Details details{style};
  details.line("name", text_in(model, "name"));
  details.line("status", text_in(model, "status"));
  details.line("reason", text_in(model, "reason"));
  add_file(details, model);
  details.line("imported", format_age(seconds_since(model, "imported_at_us", now_us)));
  details.line("last used", last_used_text(model, now_us));
  details.line("ttft now", ttft_text(model));
  details.line("busy", busy_text(model));
  for (const std::string_view name : kLayers) {
    if (const auto* layer = layer_in(model, name)) details.line(name, layer_details(name, *layer));
  }
  if (const auto* worker = object_in(model, "worker")) add_worker(details, *worker);
  return std::move(details).take();
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

}  // namespace hearth::cli
