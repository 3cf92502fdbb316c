// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/model_fields.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

constexpr std::size_t kVerdictWidth = 8;

Bytes bytes_of(const boost::json::object& object, std::string_view name) {
  const std::int64_t count = integer_in(object, name);
  return Bytes{static_cast<std::uint64_t>(std::max<std::int64_t>(0, count))};
}

bool is_good(const boost::json::object& verified) {
  const std::string verdict = text_in(verified, "verdict");
  return verdict == "good" || verdict == "repaired";
}

std::string share_of(const boost::json::object& pull) {
  const double total = static_cast<double>(integer_in(pull, "total_bytes"));
  if (total <= 0) return std::string{kNothing};
  const double done = static_cast<double>(integer_in(pull, "done_bytes"));
  return fmt::format("{} of {}", format_percent(done / total), bytes_text(pull, "total_bytes"));
}

std::string state_of(const boost::json::object& pull) {
  const std::string reason = text_in(pull, "reason");
  return text_in(pull, "state") + (reason.empty() ? "" : ": " + reason);
}

std::string rate_of(const boost::json::object& pull) {
  const double rate = number_in(pull, "bytes_per_s").value_or(0);
  if (rate < 1) return std::string{kNothing};
  return format_bytes(Bytes{static_cast<std::uint64_t>(rate)}) + "/s";
}

}  // namespace

std::string pulled_sentence(const boost::json::object& answer) {
  const auto* done = object_in(answer, "done");
  if (done == nullptr) return "done\n";
  const std::string name = text_in(*done, "name");
  const std::string size = bytes_text(*done, "bytes");
  if (flag_in(*done, "was_there")) return fmt::format("{} ({}) was here already\n", name, size);
  const double ms = number_in(*done, "download_ms").value_or(0);
  std::string text = fmt::format("pulled {} ({})", name, size);
  if (ms > 0) {
    const auto received = static_cast<double>(bytes_of(*done, "received_bytes").count());
    text += fmt::format(" in {}, {}/s", format_milliseconds(ms),
                        format_bytes(Bytes{static_cast<std::uint64_t>(1000 * received / ms)}));
  }
  return text + "\n";
}

std::string pulls_table(const boost::json::array& pulls, const OutputStyle& style) {
  Table table{{{.heading = "NAME"},
               {.heading = "SOURCE", .leaves = 1},
               {.heading = "DONE", .align = Align::kRight},
               {.heading = "SPEED", .align = Align::kRight, .leaves = 2},
               {.heading = "STATE"}}};
  for (const auto& one : pulls) {
    if (!one.is_object()) continue;
    const auto& pull = one.get_object();
    table.add({or_nothing(text_in(pull, "name")), text_in(pull, "source"), share_of(pull),
               rate_of(pull), state_of(pull)});
  }
  return table.render(style);
}

std::string verified_line(const boost::json::object& verified, const OutputStyle& style) {
  const std::string verdict = text_in(verified, "verdict");
  const std::string padded = pad_right(std::string{verdict}, kVerdictWidth);
  std::string text = fmt::format(
      "{}  {}  {}\n", style.paint(is_good(verified) ? Paint::kGreen : Paint::kRed, padded),
      text_in(verified, "model"), bytes_text(verified, "bytes"));
  if (const std::string more = text_in(verified, "text"); !more.empty()) {
    text += std::string(kVerdictWidth + 2, ' ') + one_line(more) + "\n";
  }
  return text;
}

bool all_good(const boost::json::object& done) {
  const auto* verified = array_in(done, "verified");
  if (verified == nullptr) return true;
  return std::ranges::all_of(*verified, [](const boost::json::value& one) {
    return one.is_object() && is_good(one.get_object());
  });
}

std::string prunable_text(const boost::json::object& answer, const OutputStyle& style) {
  const auto* items = array_in(answer, "items");
  const bool shown = flag_in(answer, "dry_run");
  if (items == nullptr || items->empty()) return style.terminal ? "Nothing to clear away\n" : "";
  Table table{{{.heading = "KIND"},
               {.heading = "SIZE", .align = Align::kRight},
               {.heading = "WHAT"},
               {.heading = "WHY"}}};
  for (const auto& one : *items) {
    if (!one.is_object()) continue;
    const auto& item = one.get_object();
    table.add({text_in(item, "kind"), bytes_text(item, "bytes"), text_in(item, "what"),
               text_in(item, "why")});
  }
  std::string text = table.render(style);
  if (!style.terminal) return text;
  const std::string room = bytes_text(answer, "bytes");
  return text + (shown ? fmt::format("{} in all; `hearth prune --yes` deletes them\n", room)
                       : fmt::format("deleted; {} are free again\n", room));
}

std::string cool_preview_text(const boost::json::object& preview) {
  std::string text = fmt::format("{}: {} would be freed\n", text_in(preview, "model"),
                                 bytes_text(preview, "freed_bytes"));
  const std::string source = text_in(preview, "source");
  if (source.empty()) {
    text += "  it would be computed again at the next start\n";
  } else {
    text += fmt::format("  {} would be fetched again from {}\n", bytes_text(preview, "fetch_bytes"),
                        source);
  }
  for (const std::string& file : texts_in(preview, "files")) text += "  " + file + "\n";
  const auto also = texts_in(preview, "also");
  if (!also.empty()) text += fmt::format("  also known as {}\n", fmt::join(also, ", "));
  return text;
}

}  // namespace hearth::cli
