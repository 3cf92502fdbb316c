// SPDX-License-Identifier: Apache-2.0
#include "cli/memory_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/lines.h"
#include "cli/model_fields.h"
#include "cli/share_bar.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

struct Kind {
  std::string_view name;  // as the server says it
  std::string_view heading;
  char sign;
  Paint paint;
  int leaves;  // see Table::Column
};

// In the order in which they are drawn. The last one takes what a newer server has besides.
constexpr std::array kKinds{
    Kind{"weights", "WEIGHTS", 'w', Paint::kGreen, 0},
    Kind{"repacked", "REPACKED", 'r', Paint::kCyan, 5},
    Kind{"kv", "KV", 'k', Paint::kYellow, 4},
    Kind{"compute", "COMPUTE", 'c', Paint::kBlue, 3},
    Kind{"prefix", "PREFIX", 'p', Paint::kMagenta, 0},
    Kind{"pins", "PINS", 'l', Paint::kRed, 0},
    Kind{"hollow", "HOLLOW", 'h', Paint::kDim, 2},
    Kind{"other", "OTHER", 'o', Paint::kDim, 1},
};
constexpr std::size_t kOther = kKinds.size() - 1;
constexpr std::size_t kBesideBar = 10;  // the bar's key
constexpr std::string_view kNobody = "(no model)";

using Amounts = std::array<Bytes, kKinds.size()>;

std::size_t kind_of(const boost::json::object& held) {
  const auto* kind = std::ranges::find(kKinds, text_in(held, "what"), &Kind::name);
  return std::min<std::size_t>(static_cast<std::size_t>(kind - kKinds.begin()), kOther);
}

Bytes sum(const Amounts& amounts) {
  Bytes all;
  for (const Bytes bytes : amounts) all += bytes;
  return all;
}

struct Memory {
  explicit Memory(const boost::json::object& answer);

  Amounts kinds{};
  std::map<std::string, Amounts> models{};  // "": nobody's in particular
  Bytes held, promised, free, over;
  std::optional<Bytes> limit{};
};

Memory::Memory(const boost::json::object& answer)
    : held{bytes_in(answer, "held_bytes")},
      promised{bytes_in(answer, "promised_bytes")},
      free{bytes_in(answer, "free_bytes")},
      over{bytes_in(answer, "over_bytes")} {
  if (number_in(answer, "limit_bytes")) limit = bytes_in(answer, "limit_bytes");
  for (const auto* one : objects_in(answer, "held")) {
    const std::string model = text_in(*one, "model");
    const std::size_t kind = kind_of(*one);
    kinds[kind] += bytes_in(*one, "bytes");
    models[model][kind] += bytes_in(*one, "bytes");
  }
}

// "234 MiB held, 12.0 MiB promised, 174 MiB free of 420 MiB"
std::string budget_text(const Memory& memory) {
  std::string text = format_bytes(memory.held) + " held";
  if (memory.promised > Bytes{}) {
    text += fmt::format(", {} promised to loads", format_bytes(memory.promised));
  }
  if (!memory.limit) return text + "; no limit is known";
  return text +
         fmt::format(", {} free of {}", format_bytes(memory.free), format_bytes(*memory.limit));
}

// Nothing in a pipe: it says nothing that the tables do not.
std::string bar_line(std::string_view key, const std::vector<Share>& parts,
                     const OutputStyle& style) {
  if (!style.terminal || style.width <= kBesideBar) return {};
  const std::string bar = share_bar(parts, style.width - kBesideBar, style);
  if (bar.empty()) return {};
  std::string line{key};
  line.resize(kBesideBar, ' ');
  return style.paint(Paint::kDim, line) + bar + '\n';
}

std::string budget_bar(const Memory& memory, const OutputStyle& style) {
  std::vector<Share> parts;
  parts.reserve(kKinds.size() + 2);
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    parts.push_back({kKinds[i].sign, memory.kinds[i], kKinds[i].paint});
  }
  parts.push_back({'+', memory.promised, Paint::kBold});
  parts.push_back({'.', memory.free, Paint::kDim});
  return bar_line("", parts, style);
}

// "w weights 150 MiB, k kv 22.0 MiB, . free 176 MiB"
std::string legend_of_budget(const Memory& memory) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (memory.kinds[i] == Bytes{}) continue;
    parts.push_back(
        fmt::format("{} {} {}", kKinds[i].sign, kKinds[i].name, format_bytes(memory.kinds[i])));
  }
  if (memory.promised > Bytes{}) parts.push_back("+ promised");
  if (memory.free > Bytes{}) parts.push_back(". free");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What the machine has, by whose it is; the budget's part of it is the same as above.
std::string machine_bar(const Memory& memory, const boost::json::object& machine,
                        const OutputStyle& style) {
  const Bytes total = bytes_in(machine, "total");
  if (total == Bytes{} || !memory.limit) return {};
  const Bytes ours = memory.held + memory.promised + memory.free;
  const Bytes beyond = total - std::min(total, ours);
  const Bytes reserve = std::min(bytes_in(machine, "reserve"), beyond);
  return bar_line("",
                  {{'#', memory.held, Paint::kGreen},
                   {'+', memory.promised, Paint::kBold},
                   {'.', memory.free, Paint::kDim},
                   {'R', reserve, Paint::kYellow},
                   {'-', beyond - reserve, Paint::kDim}},
                  style);
}

std::string machine_text(const boost::json::object& machine) {
  if (!number_in(machine, "total")) return {};
  std::string text = format_bytes(bytes_in(machine, "total"));
  if (number_in(machine, "available")) {
    text += fmt::format(", {} available", format_bytes(bytes_in(machine, "available")));
  }
  text += fmt::format("; {} of it are kept for others", format_bytes(bytes_in(machine, "reserve")));
  const Bytes swapped = bytes_in(machine, "swap_used");
  if (swapped > Bytes{}) text += fmt::format("; {} of swap are used", format_bytes(swapped));
  return text;
}

std::string_view legend_of_machine(const OutputStyle& style) {
  if (!style.terminal) return {};
  return "# held, + promised, . free, R kept for others, - beyond the limit";
}

std::string share_text(Bytes bytes, const std::optional<Bytes>& limit) {
  if (!limit || *limit == Bytes{}) return std::string{kNothing};
  return format_percent(static_cast<double>(bytes.count()) / static_cast<double>(limit->count()));
}

std::string kinds_table(const Memory& memory, const OutputStyle& style) {
  Table table{{{"HELD"}, {"BYTES", Align::kRight}, {"OF THE LIMIT", Align::kRight}}};
  const auto add = [&](char sign, std::string_view name, Bytes bytes) {
    if (bytes == Bytes{}) return;
    std::string text{name};
    if (style.terminal) text = fmt::format("{} {}", sign, name);
    table.add({std::move(text), format_bytes(bytes), share_text(bytes, memory.limit)});
  };
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    add(kKinds[i].sign, kKinds[i].name, memory.kinds[i]);
  }
  add('+', "promised", memory.promised);
  add('.', "free", memory.free);
  return table.empty() ? std::string{} : '\n' + table.render(style);
}

// In a pipe all columns, so that they are always the same; else only those that hold something.
std::string models_table(const Memory& memory, const OutputStyle& style) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (!style.terminal || memory.kinds[i] > Bytes{}) shown.push_back(i);
  }
  std::vector<Table::Column> columns{{"MODEL"}, {"ALL", Align::kRight}};
  for (const std::size_t i : shown) {
    columns.push_back({std::string{kKinds[i].heading}, Align::kRight, kKinds[i].leaves});
  }
  Table table{std::move(columns)};
  const auto add = [&](const std::string& model, const Amounts& amounts) {
    std::vector<std::string> cells{model, format_bytes(sum(amounts))};
    for (const std::size_t i : shown) {
      const bool any = amounts[i] > Bytes{};
      cells.push_back(any ? format_bytes(amounts[i]) : std::string{kNothing});
    }
    table.add(std::move(cells));
  };
  for (const auto& [model, amounts] : memory.models) {
    if (!model.empty()) add(model, amounts);
  }
  const auto nobodys = memory.models.find("");
  if (nobodys != memory.models.end()) add(std::string{kNobody}, nobodys->second);
  return table.empty() ? std::string{} : '\n' + table.render(style);
}

std::string limit_text(const Memory& memory, const boost::json::object& answer) {
  if (!memory.limit) return {};
  const std::string why = text_in(answer, "limit_reason");
  return why.empty() ? format_bytes(*memory.limit) : format_bytes(*memory.limit) + ": " + why;
}

std::string over_text(const Memory& memory) {
  if (memory.over == Bytes{}) return {};
  return format_bytes(memory.over) + " more than the limit, until it has been given back";
}

std::string pressure_text(const boost::json::object& pressure) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, std::string_view what) {
    const auto percent = number_in(pressure, name);
    if (percent) parts.push_back(fmt::format("for {} {:.0f}%", what, *percent));
  };
  add("memory_some_avg10", "memory");
  add("cpu_some_avg10", "processors");
  if (parts.empty()) return {};
  return fmt::format("something waited {} of the last 10 s", fmt::join(parts, ", "));
}

std::string cgroup_text(const boost::json::object& cgroup) {
  if (!number_in(cgroup, "limit")) return {};
  return fmt::format("{}: {} of {} used, {} of it cannot be reclaimed", text_in(cgroup, "path"),
                     format_bytes(bytes_in(cgroup, "used")),
                     format_bytes(bytes_in(cgroup, "limit")),
                     format_bytes(bytes_in(cgroup, "unreclaimable")));
}

std::string cache_text(const boost::json::object& cache) {
  if (!number_in(cache, "ours")) return {};
  std::string text = format_bytes(bytes_in(cache, "ours")) + " of models' files";
  if (!number_in(cache, "of_files")) return text;
  return fmt::format("{}, of {} of all files; the kernel takes it when it wants to", text,
                     format_bytes(bytes_in(cache, "of_files")));
}

std::string devices_text(const boost::json::object& answer, const OutputStyle& style) {
  std::string text;
  for (const auto* device : objects_in(answer, "devices")) {
    std::string held = format_bytes(bytes_in(*device, "held")) + " held";
    if (number_in(*device, "limit")) held += " of " + format_bytes(bytes_in(*device, "limit"));
    text += key_line("device", text_in(*device, "name") + ": " + held, style);
  }
  return text;
}

}  // namespace

std::string budget_view(const boost::json::object& answer, const OutputStyle& style) {
  const Memory memory{answer};
  std::string text = key_line("budget", budget_text(memory), style);
  const std::string bar = budget_bar(memory, style);
  if (!bar.empty()) text += bar + key_line("", legend_of_budget(memory), style);
  if (memory.over > Bytes{}) {
    text += style.paint(Paint::kRed, "over      ") + over_text(memory) + '\n';
  }
  return text;
}

std::string memory_view(const boost::json::object& answer, const OutputStyle& style) {
  const Memory memory{answer};
  const boost::json::object& machine = part_in(answer, "machine");
  std::string text = key_line("budget", budget_text(memory), style) + budget_bar(memory, style);
  if (memory.over > Bytes{}) {
    text += style.paint(Paint::kRed, "over      ") + over_text(memory) + '\n';
  }
  text += key_line("limit", limit_text(memory, answer), style);
  text += key_line("machine", machine_text(machine), style);
  if (const std::string bar = machine_bar(memory, machine, style); !bar.empty()) {
    text += bar + key_line("", legend_of_machine(style), style);
  }
  text += key_line("cgroup", cgroup_text(part_in(answer, "cgroup")), style);
  text += devices_text(answer, style);
  text += key_line("pressure", pressure_text(part_in(answer, "pressure")), style);
  text += key_line("cache", cache_text(part_in(answer, "page_cache")), style);
  return text + kinds_table(memory, style) + models_table(memory, style);
}

}  // namespace hearth::cli
