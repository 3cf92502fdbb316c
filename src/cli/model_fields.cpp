// SPDX-License-Identifier: Apache-2.0
#include "cli/model_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cli/format.h"
#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

bool has_weights(const boost::json::object& model) {
  const std::string level = level_of(model, "weights");
  return level == "resident" || level == "loading";
}

std::string plain_keep_alive(const boost::json::object& model) {
  const std::string text = text_in(model, "keep_alive");
  return text.starts_with('-') ? "until wanted" : text;
}

}  // namespace

const boost::json::object* layer_in(const boost::json::object& model, std::string_view name) {
  const auto* layers = object_in(model, "layers");
  return layers == nullptr ? nullptr : object_in(*layers, name);
}

std::string level_text(std::string_view name, const boost::json::object& layer) {
  const std::string level = text_in(layer, "level");
  const bool has_share =
      level == "resident" || level == "pinned" || level == "partial" || level == "loading";
  const bool is_loaded = name == "weights" && level == "resident";
  if (!has_share || is_loaded) return or_nothing(level);
  return level + " " + format_percent(number_in(layer, "fraction").value_or(0));
}

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

// "2.10 s (1.8-2.6)"; a guess has a tilde before it.
std::string ttft_text(const boost::json::object& model) {
  const auto ms = number_in(model, "predicted_ttft_ms");
  if (!ms) return std::string{kNothing};
  const auto* predicted = object_in(model, "predicted_ttft");
  if (predicted == nullptr) return format_milliseconds(*ms);
  const double low = number_in(*predicted, "low_ms").value_or(*ms);
  const double high = number_in(*predicted, "high_ms").value_or(*ms);
  const bool in_seconds = *ms >= 999.5;
  const std::string between = in_seconds ? fmt::format("{:.1f}-{:.1f}", low / 1000, high / 1000)
                                         : fmt::format("{:.0f}-{:.0f}", low, high);
  const auto* known = predicted->if_contains("known");
  const bool guess = known != nullptr && known->is_bool() && !known->get_bool();
  return fmt::format("{}{} ({})", guess ? "~" : "", format_milliseconds(*ms), between);
}

std::string busy_text(const boost::json::object& model) {
  const std::int64_t active = integer_in(model, "active");
  const std::int64_t queued = integer_in(model, "queued");
  if (active == 0 && queued == 0) return std::string{kNothing};
  if (queued == 0) return fmt::format("{} active", active);
  return fmt::format("{} active, {} queued", active, queued);
}

std::string layer_text(const boost::json::object& model, std::string_view name) {
  const auto* layer = layer_in(model, name);
  return layer == nullptr ? std::string{kNothing} : level_text(name, *layer);
}

std::string level_of(const boost::json::object& model, std::string_view name) {
  const auto* layer = layer_in(model, name);
  return layer == nullptr ? std::string{} : text_in(*layer, "level");
}

std::string until_text(const boost::json::object& model, std::int64_t now_us) {
  if (std::ranges::count(texts_in(model, "pinned"), "weights") > 0) return "pinned";
  if (!has_weights(model)) return std::string{kNothing};
  if (const std::int64_t moment = integer_in(model, "expires_at_us"); moment > 0) {
    return format_ahead(static_cast<double>(moment - now_us) / 1e6);
  }
  const std::string keep_alive = plain_keep_alive(model);
  if (keep_alive.empty() || keep_alive == "until wanted") return or_nothing(keep_alive);
  return keep_alive + " after use";
}

std::string keep_alive_text(const boost::json::object& model) {
  const std::string length = plain_keep_alive(model);
  const std::string source = text_in(model, "keep_alive_source");
  if (length.empty() || source.empty()) return or_nothing(length);
  if (source == "default") return length + ", the default";
  if (source == "request") return length + ", as the last request asked";
  return fmt::format("{}, from {}", length,
                     source == "configuration" ? "the configuration" : source);
}

}  // namespace hearth::cli
