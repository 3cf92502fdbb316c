// SPDX-License-Identifier: Apache-2.0
#include "cli/model_details.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/model_fields.h"

namespace hearth::cli {
namespace {

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

  // A heading comes only once there is something below it, and never into a pipe.
  void section(std::string_view heading) { heading_ = heading; }

  void line(std::string_view key, std::string_view value) {
    if (value.empty() || value == kNothing) return;
    const std::string clean = one_line(value);
    if (!style_.terminal) {
      text_ += fmt::format("{}\t{}\n", key, clean);
      return;
    }
    if (!heading_.empty()) {
      if (!text_.empty()) text_ += '\n';
      text_ += "  " + style_.paint(Paint::kBold, std::exchange(heading_, {})) + "\n";
    }
    text_ += "    " + style_.paint(Paint::kDim, pad_right(std::string{key}, kKeyWidth)) + "  " +
             clean.substr(0, clean.find_last_not_of(' ') + 1) + "\n";
  }

  std::string take() && { return std::move(text_); }

 private:
  static constexpr std::size_t kKeyWidth = 12;
  const OutputStyle& style_;
  std::string heading_;
  std::string text_;
};

std::string list_text(const boost::json::object& model, std::string_view name) {
  return fmt::format("{}", fmt::join(texts_in(model, name), ", "));
}

std::string count_text(const boost::json::object& object, std::string_view name) {
  const std::int64_t count = integer_in(object, name);
  return count > 0 ? format_grouped(static_cast<std::uint64_t>(count)) : std::string{kNothing};
}

void add_model(Details& details, const boost::json::object& model) {
  details.section("Model");
  details.line("name", text_in(model, "name"));
  details.line("aliases", list_text(model, "aliases"));
  details.line("status", text_in(model, "status"));
  details.line("reason", text_in(model, "reason"));
  details.line("architecture", text_in(model, "architecture"));
  details.line("parameters", parameters_text(model));
  details.line("quantization", text_in(model, "quantization"));
  details.line("context", context_text(model));
  details.line("embedding", count_text(model, "embedding_length"));
  details.line("capabilities", list_text(model, "capabilities"));
  details.line("template",
               flag_in(model, "has_chat_template") ? "the model's own" : "none; ChatML is used");
}

void add_memory(Details& details, const boost::json::object& model, std::int64_t now_us) {
  details.section("Memory");
  details.line("keep alive", keep_alive_text(model));
  details.line("until", until_text(model, now_us));
  details.line("pinned", list_text(model, "pinned"));
  details.line("last used", last_used_text(model, now_us));
  details.line("ttft now", ttft_text(model));
  details.line("busy", busy_text(model));
}

void add_layers(Details& details, const boost::json::object& model) {
  details.section("Layers");
  for (const std::string_view name : kLayers) {
    if (const auto* layer = layer_in(model, name)) details.line(name, layer_details(name, *layer));
  }
}

void add_worker(Details& details, const boost::json::object& worker) {
  details.section("Worker");
  details.line("worker",
               fmt::format("pid {}, up {}", integer_in(worker, "pid"),
                           format_milliseconds(number_in(worker, "uptime_ms").value_or(0))));
  // A worker tells of its memory a moment after it has begun.
  if (integer_in(worker, "resident_bytes") > 0) {
    details.line("memory", fmt::format("{}, of it {} private", bytes_text(worker, "resident_bytes"),
                                       bytes_text(worker, "anonymous_bytes")));
  }
  details.line("device", bytes_text(worker, "device_bytes"));
  details.line("backend", text_in(worker, "backend"));
  details.line("engine", text_in(worker, "engine"));
  if (integer_in(worker, "threads") > 0) details.line("threads", count_text(worker, "threads"));
  if (integer_in(worker, "context") > 0) {
    details.line("cells", count_text(worker, "context") + " tokens");
  }
}

std::string owner_text(const boost::json::object& model) {
  const std::string store = text_in(model, "store");
  if (store == "hearth") return "Hearth's own store";
  if (store == "user") return "yours, used in place";
  if (store == "folder") return "a watched folder, used in place";
  return store.empty() ? "" : "the store of " + store + ", used in place";
}

void add_file(Details& details, const boost::json::object& model, std::int64_t now_us) {
  details.section("Files");
  details.line("size", bytes_text(model, "size"));
  if (integer_in(model, "shared_bytes") > 0) {
    details.line("shared", bytes_text(model, "shared_bytes") + " of it with other models");
  }
  for (const std::string& path : texts_in(model, "paths")) details.line("file", path);
  details.line("whose", owner_text(model));
  details.line("pulled from", text_in(model, "source"));
  details.line("adapters", count_text(model, "adapters"));
  details.line("artifact", text_in(model, "artifact"));
  details.line("sha256", text_in(model, "digest"));
  details.line("verified", format_age(seconds_since(model, "verified_at_us", now_us)));
  details.line("imported", format_age(seconds_since(model, "imported_at_us", now_us)));
  details.line("license", text_in(model, "license"));
}

std::string first_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  return std::string{text.substr(0, end)} + (end == std::string_view::npos ? "" : " ...");
}

void add_settings(Details& details, const boost::json::object& settings) {
  details.section("Settings");
  details.line("system", first_line(text_in(settings, "system")));
  if (const auto* parameters = object_in(settings, "parameters")) {
    for (const auto& parameter : *parameters) {
      details.line(std::string_view{parameter.key()}, boost::json::serialize(parameter.value()));
    }
  }
  if (!text_in(settings, "template").empty()) {
    details.line("template", flag_in(settings, "template_runs")
                                 ? "its own, in place of the file's"
                                 : "not Jinja, so only shown; the file's is used");
  }
  details.line("license", first_line(text_in(settings, "license")));
}

// Layers that are alike, such as the blocks in the middle, in one line.
void add_tensors(Details& details, const boost::json::array& layers) {
  details.section("Tensors");
  for (std::size_t i = 0; i < layers.size();) {
    const auto* layer = layers[i].if_object();
    std::size_t next = i + 1;
    const auto alike = [&] {
      const auto* other = layers[next].if_object();
      return layer != nullptr && other != nullptr && text_in(*layer, "layer").starts_with("blk.") &&
             text_in(*other, "layer").starts_with("blk.") &&
             integer_in(*layer, "bytes") == integer_in(*other, "bytes");
    };
    while (next < layers.size() && alike()) ++next;
    if (layer != nullptr) {
      const std::string first = text_in(*layer, "layer");
      const std::string each = bytes_text(*layer, "bytes");
      const bool one = next == i + 1;
      details.line(first, one ? each : fmt::format("{} each, {} of them", each, next - i));
    }
    i = next;
  }
}

void add_need(Details& details, const boost::json::object& need) {
  details.section("A load needs");
  details.line("weights", bytes_text(need, "weights_bytes"));
  if (integer_in(need, "kv_bytes") > 0) {
    details.line("KV cache", fmt::format("{} for {} tokens", bytes_text(need, "kv_bytes"),
                                         count_text(need, "kv_context")));
  }
  details.line("in all", bytes_text(need, "total_bytes"));
  details.line("but", text_in(need, "note"));
}

// What the files lie on, how they are read and why, and what is wrong with it.
void add_storage(Details& details, const boost::json::object& storage) {
  details.section("Lies on");
  std::string text = text_in(storage, "kind") + ", " + or_nothing(text_in(storage, "file_system"));
  details.line(text_in(storage, "name"), std::move(text));
  if (const auto* choice = object_in(storage, "choice")) {
    details.line("read", fmt::format("{} by {} at once, {}; {}", text_in(*choice, "mode"),
                                     integer_in(*choice, "readers"), text_in(*choice, "direction"),
                                     text_in(*choice, "why")));
  }
  details.line("but", text_in(storage, "finding"));
}

}  // namespace

std::string model_details(const boost::json::object& model, std::int64_t now_us,
                          const OutputStyle& style) {
  Details details{style};
  add_model(details, model);
  add_memory(details, model, now_us);
  add_layers(details, model);
  if (const auto* worker = object_in(model, "worker")) add_worker(details, *worker);
  add_file(details, model, now_us);
  if (const auto* settings = object_in(model, "settings")) add_settings(details, *settings);
  return std::move(details).take();
}

std::string content_details(const boost::json::object& content, const OutputStyle& style) {
  Details details{style};
  if (const auto* need = object_in(content, "need")) add_need(details, *need);
  if (const auto* storage = object_in(content, "storage")) add_storage(details, *storage);
  if (const auto* layers = array_in(content, "layers")) add_tensors(details, *layers);
  return std::move(details).take();
}

}  // namespace hearth::cli
