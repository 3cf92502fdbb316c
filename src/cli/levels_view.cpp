// SPDX-License-Identifier: Apache-2.0
#include "cli/levels_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "cli/claim_view.h"
#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/lines.h"
#include "cli/model_fields.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

using Object = boost::json::object;

constexpr std::string_view kNoServices =
    "None are named. Sections [protected.\"NAME\"] of the configuration do.";
constexpr std::string_view kNoClaims =
    "None has to. With ttft_ms in its section of the configuration one does.";

std::string ms_text(const Object& object, std::string_view name) {
  const auto ms = number_in(object, name);
  return ms ? format_milliseconds(*ms) : std::string{kNothing};
}

// ---- services ----

// How slow it may get: its usual latency, with the margin.
std::string limit_text(const Object& service) {
  const auto usual = number_in(service, "baseline_ms");
  const auto percent = number_in(service, "limit_percent");
  if (!usual || !percent) return std::string{kNothing};
  return format_milliseconds(*usual * *percent / 100);
}

std::string waits_text(const Object& service) {
  const auto percent = number_in(service, "psi");
  return percent ? fmt::format("{:.0f}%", *percent) : std::string{kNothing};
}

std::string given_text(const Object& service) {
  std::vector<std::string> names = texts_in(service, "gave_way");
  std::ranges::replace(names, "percent", "time");
  return or_nothing(fmt::format("{}", fmt::join(names, ", ")));
}

std::string reason_of(const Object& service) {
  std::string reason = text_in(service, "reason");
  if (!reason.empty() || text_in(service, "state") != "unknown") return reason;
  return "what is usual is not known yet; it is learned while Hearth does nothing";
}

std::string services_view(const Object& levels, std::int64_t now_us, const OutputStyle& style) {
  Table table{{{"SERVICE"},
               {"KIND", Align::kLeft, 1},
               {"STATE"},
               {"SINCE", Align::kLeft, 2},
               {"USUAL", Align::kRight},
               {"NOW", Align::kRight},
               {"AT MOST", Align::kRight},
               {"WAITS", Align::kRight},
               {"GIVEN"}}};
  std::string notes;
  for (const Object* service : objects_in(levels, "protected")) {
    const std::string name = text_in(*service, "name");
    table.add({name, text_in(*service, "kind"), text_in(*service, "state"),
               format_age(seconds_since(*service, "since_us", now_us)),
               ms_text(*service, "baseline_ms"), ms_text(*service, "p99_ms"), limit_text(*service),
               waits_text(*service), given_text(*service)});
    const std::string reason = reason_of(*service);
    if (!reason.empty()) notes += sentence_line(fmt::format("{}: {}", name, reason), 2, style);
  }
  if (table.empty()) return sentence_line(kNoServices, 0, style);
  return table.render(style) + (notes.empty() ? "" : "\n" + notes);
}

// ---- reading ahead ----

std::string state_text(const Object& prewarming) {
  const std::string state = text_in(prewarming, "state");
  const std::string why = text_in(prewarming, "why");
  if (state == "reading") return "reading " + text_in(prewarming, "model");
  if (state == "idle") return "nothing is worth it now";
  if (state == "held") return "held back: " + why;
  return why.empty() ? state : state + ": " + why;
}

std::string allowance_text(const Object& prewarming) {
  if (!number_in(prewarming, "allowance_bytes")) return {};
  return fmt::format("{} now; {} a day at most, and no more than earned before",
                     format_bytes(bytes_in(prewarming, "allowance_bytes")),
                     format_bytes(bytes_in(prewarming, "daily_bytes")));
}

// "16 min (50 s to 4 h)": when the next request is expected.
std::string next_text(const Object& model, std::int64_t now_us) {
  const Object* next = object_in(model, "next");
  if (next == nullptr) return std::string{kNothing};
  const auto ahead = [&](std::string_view name) {
    return format_span(static_cast<double>(integer_in(*next, name) - now_us) / 1e6);
  };
  return fmt::format("{} ({} to {})", ahead("likely_us"), ahead("earliest_us"), ahead("latest_us"));
}

std::string saved_text(const Object& model) {
  return format_milliseconds(number_in(model, "saved_s").value_or(0) * 1000);
}

std::vector<std::string> account_of(const Object& model, std::int64_t now_us) {
  const auto bytes = [&](std::string_view name) { return format_bytes(bytes_in(model, name)); };
  return {text_in(model, "model"), bytes("read_bytes"),
          bytes("used_bytes"),     bytes("wasted_bytes"),
          bytes("unused_bytes"),   fmt::format("{:.2f}", number_in(model, "gib_hours").value_or(0)),
          saved_text(model),       format_percent(number_in(model, "probability").value_or(0)),
          next_text(model, now_us)};
}

std::string rest_text(const Object& model, std::int64_t now_us) {
  const std::int64_t until = integer_in(model, "resting_until_us");
  if (until <= now_us) return {};
  return fmt::format("{} rests for {}: too little of what was read of it was used",
                     text_in(model, "model"),
                     format_span(static_cast<double>(until - now_us) / 1e6));
}

std::string accounts_view(const Object& prewarming, std::int64_t now_us, const OutputStyle& style) {
  auto models = objects_in(prewarming, "models");
  std::ranges::sort(models, {}, [](const Object* model) { return text_in(*model, "model"); });
  Table table{{{"MODEL"},
               {"READ", Align::kRight},
               {"USED", Align::kRight},
               {"WASTED", Align::kRight},
               {"UNUSED", Align::kRight, 1},
               {"GIB H", Align::kRight, 3},
               {"SAVED", Align::kRight},
               {"CHANCE", Align::kRight, 2},
               {"NEXT"}}};
  std::string notes;
  for (const Object* model : models) {
    table.add(account_of(*model, now_us));
    notes += sentence_line(rest_text(*model, now_us), 2, style);
  }
  if (table.empty()) return {};
  return "\n" + table.render(style) + (notes.empty() ? "" : "\n" + notes);
}

std::string prewarming_view(const Object& levels, std::int64_t now_us, const OutputStyle& style) {
  const Object& prewarming = part_in(levels, "prewarming");
  return key_line("state", state_text(prewarming), style) +
         key_line("may read", allowance_text(prewarming), style) +
         accounts_view(prewarming, now_us, style);
}

}  // namespace

std::string levels_view(const Object& levels, std::int64_t now_us, const OutputStyle& style) {
  const std::string claims = claims_view(levels, now_us, style);
  return heading_line("Services that come first", style) + services_view(levels, now_us, style) +
         '\n' + heading_line("Reading ahead", style) + prewarming_view(levels, now_us, style) +
         '\n' + heading_line("Models that have to be warm", style) +
         (claims.empty() ? sentence_line(kNoClaims, 0, style) : claims);
}

}  // namespace hearth::cli
