// SPDX-License-Identifier: Apache-2.0
#include "cli/prefix_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/lines.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

struct Reason {
  std::string_view reason;
  std::string_view words;
};

constexpr std::array kReasons{
    Reason{"diverged", "an earlier prompt begins alike and goes on otherwise"},
    Reason{"evicted", "it was kept, and deleted to make room"},
    Reason{"short", "what is common is shorter than a block"},
    Reason{"other_key", "it is kept, for another key"},
    Reason{"other_options", "it is kept, for other options, files or another engine"},
    Reason{"not_restorable", "nothing of this model can be brought back"},
};

std::string bytes_text(const boost::json::object& object, std::string_view name) {
  return format_bytes(bytes_in(object, name));
}

std::string count_text(const boost::json::object& object, std::string_view name) {
  const std::int64_t count = std::max<std::int64_t>(integer_in(object, name), 0);
  return format_grouped(static_cast<std::uint64_t>(count));
}

std::string tier_text(const boost::json::object& tier) {
  return fmt::format("{} of {}, {} blocks", bytes_text(tier, "bytes"), bytes_text(tier, "limit"),
                     count_text(tier, "blocks"));
}

std::string disk_text(const boost::json::object& disk) {
  return fmt::format("{}; {} of {} written today", tier_text(disk),
                     bytes_text(disk, "written_today"), bytes_text(disk, "daily_limit"));
}

std::string reuse_text(const boost::json::object& view) {
  const std::int64_t hit = integer_in(view, "hit_tokens");
  const std::int64_t all = hit + integer_in(view, "missed_tokens");
  std::string text =
      fmt::format("{} of {} prompt tokens in {} lookups", count_text(view, "hit_tokens"),
                  format_grouped(static_cast<std::uint64_t>(std::max<std::int64_t>(all, 0))),
                  count_text(view, "lookups"));
  const double saved = number_in(view, "saved_seconds").value_or(0);
  if (saved > 0) text += fmt::format("; about {} saved", format_milliseconds(saved * 1000));
  return text;
}

std::string restore_text(const boost::json::object& restore) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, std::string_view where) {
    const double rate = number_in(restore, name).value_or(0);
    if (rate < 1) return;
    const Bytes bytes{static_cast<std::uint64_t>(rate)};
    parts.push_back(fmt::format("{}/s from {}", format_bytes(bytes), where));
  };
  add("memory_bytes_per_s", "memory");
  add("disk_bytes_per_s", "disk");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "3 memory, 1 disk": the numbers of an object that are not 0.
std::string counts_text(const boost::json::object& counts) {
  std::vector<std::string> parts;
  for (const auto& count : counts) {
    if (integer_in(counts, count.key()) <= 0) continue;
    parts.push_back(count_text(counts, count.key()) + " " + one_line(std::string{count.key()}));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string slots_text(const boost::json::object& model) {
  const auto* slots = array_in(model, "slots");
  if (slots == nullptr) return {};
  std::vector<std::string> parts;
  for (const auto& slot : *slots) {
    if (!slot.is_object()) continue;
    parts.push_back(count_text(slot.get_object(), "tokens") +
                    (flag_in(slot.get_object(), "busy") ? "*" : ""));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string models_text(const boost::json::object& view, const OutputStyle& style) {
  Table table{{{"MODEL"},
               {"LIVE", Align::kRight},
               {"IN MEMORY", Align::kRight},
               {"ON DISK", Align::kRight},
               {"MEMORY", Align::kRight, 2},
               {"DISK", Align::kRight, 2},
               {"SLOTS", Align::kLeft, 1}}};
  std::string notes;
  for (const auto* model : objects_in(view, "models")) {
    const std::string name = one_line(text_in(*model, "model"));
    table.add({name, count_text(*model, "live_tokens"), count_text(*model, "memory_tokens"),
               count_text(*model, "disk_tokens"), bytes_text(*model, "memory_bytes"),
               bytes_text(*model, "disk_bytes"), slots_text(*model)});
    const std::string why = one_line(text_in(*model, "not_restorable"));
    if (!why.empty()) notes += fmt::format("{} cannot be brought back: {}\n", name, why);
  }
  std::string text;
  if (!table.empty()) text = "\n" + table.render(style);
  if (!notes.empty()) text += "\n" + notes;
  return text;
}

std::string findings_text(const boost::json::object& answer, const OutputStyle& style) {
  std::string text;
  for (const auto* finding : objects_in(answer, "findings")) {
    const std::string code = one_line(text_in(*finding, "code"));
    text += (text.empty() ? "" : "\n") + style.paint(Paint::kYellow, code) + ": " +
            one_line(text_in(*finding, "text")) + '\n' +
            key_line("remedy", one_line(text_in(*finding, "remedy")), style);
  }
  return text;
}

// As JSON writes it, so that what is invisible shows.
std::string quoted(const std::string& text) {
  return boost::json::serialize(boost::json::string{text});
}

}  // namespace

std::string prefix_view(const boost::json::object& view, const OutputStyle& style) {
  const std::array<std::pair<std::string_view, std::string>, 6> lines{{
      {"memory", tier_text(part_in(view, "memory"))},
      {"disk", disk_text(part_in(view, "disk"))},
      {"reused", reuse_text(view)},
      {"restored", restore_text(part_in(view, "restore"))},
      {"evicted", counts_text(part_in(view, "evicted"))},
      {"refused", counts_text(part_in(view, "refused"))},
  }};
  std::string text;
  for (const auto& [key, words] : lines) text += key_line(key, words, style);
  text += models_text(view, style);
  const std::string findings = findings_text(view, style);
  return findings.empty() ? text : text + "\n" + findings;
}

std::string restored_text(const boost::json::object& prefix) {
  std::vector<std::string> parts;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTiers{
      {{"live", "live cells"}, {"memory", "memory"}, {"disk", "disk"}}};
  for (const auto& [name, words] : kTiers) {
    if (integer_in(prefix, name) <= 0) continue;
    const std::string_view noun = integer_in(prefix, name) == 1 ? " token" : " tokens";
    const std::string_view unit = parts.empty() ? noun : "";
    parts.push_back(fmt::format("{}{} from {}", count_text(prefix, name), unit, words));
  }
  if (!parts.empty() && integer_in(prefix, "restored_bytes") > 0) {
    parts.push_back(bytes_text(prefix, "restored_bytes") + " read");
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string miss_text(const boost::json::object& prefix) {
  const auto* miss = object_in(prefix, "miss");
  if (miss == nullptr) return {};
  const std::string text = one_line(text_in(*miss, "text"));
  const std::string had = text_in(*miss, "had");
  const std::string has = text_in(*miss, "has");
  if (!had.empty() || !has.empty()) {
    return fmt::format("{}: had {}, now {}", text, quoted(had), quoted(has));
  }
  const auto* reason = std::ranges::find(kReasons, text_in(*miss, "reason"), &Reason::reason);
  return reason == kReasons.end() ? text : fmt::format("{}: {}", text, reason->words);
}

}  // namespace hearth::cli
