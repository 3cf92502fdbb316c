// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/lines.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

using lab::Circumstances;

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string disk_text(const Circumstances::Disk& disk) {
  std::string text = fmt::format("{} ({}", disk.name, disk.kind);
  if (!disk.file_system.empty()) text += ", " + disk.file_system;
  text += ")";
  if (disk.bytes_per_s) {
    text += fmt::format(", read at {}/s",
                        format_bytes(Bytes{static_cast<std::uint64_t>(*disk.bytes_per_s)}));
  }
  if (disk.read_ahead) text += ", reads ahead " + format_bytes(*disk.read_ahead);
  return one_line(text);
}

std::string disks_text(const Circumstances& facts) {
  std::vector<std::string> parts;
  for (const Circumstances::Disk& disk : facts.disks) parts.push_back(disk_text(disk));
  return joined(parts);
}

std::string memory_text(const Circumstances& facts) {
  const Circumstances::Memory& memory = facts.memory;
  std::vector<std::string> parts;
  if (memory.total && memory.available) {
    parts.push_back(fmt::format("{} of {} available", format_bytes(*memory.available),
                                format_bytes(*memory.total)));
  }
  if (memory.limit) {
    parts.push_back(
        fmt::format("models may have {} ({})", format_bytes(*memory.limit), memory.limit_reason));
  }
  if (memory.cgroup_limit) {
    parts.push_back(
        fmt::format("{} is limited to {}", memory.cgroup, format_bytes(*memory.cgroup_limit)));
  }
  if (facts.killed.value_or(0) > 0) {
    parts.push_back(fmt::format("{} processes ended for want of memory since the machine started",
                                *facts.killed));
  }
  return one_line(joined(parts));
}

std::string swap_text(const Circumstances& facts) {
  if (!facts.swaps) return {};
  if (facts.swaps->empty()) return "none";
  std::vector<std::string> parts;
  for (const Circumstances::Swap& swap : *facts.swaps) {
    parts.push_back(fmt::format("{} of {} on {}", format_bytes(swap.used), format_bytes(swap.size),
                                swap.compressed ? swap.name + " (compressed memory)" : swap.name));
  }
  return one_line(joined(parts));
}

std::string processors_text(const Circumstances& facts) {
  std::vector<std::string> parts;
  if (facts.processors) parts.push_back(fmt::format("{} of them", *facts.processors));
  if (facts.power && !facts.power->governor.empty()) {
    parts.push_back(fmt::format("clock by {} ({})", facts.power->governor, facts.power->driver));
  }
  if (facts.power && !facts.power->idle_states.empty()) {
    parts.push_back("idle states by " + facts.power->idle_states);
  }
  if (facts.memory.cpu_pressure) {
    parts.push_back(
        fmt::format("{:.0f}% of the time somebody waits for one", *facts.memory.cpu_pressure));
  }
  return one_line(joined(parts));
}

// Timers that take models out of memory, and who set them.
std::string timers_text(const Circumstances& facts) {
  std::map<std::string, std::vector<std::string>> models;
  for (const Circumstances::Model& model : facts.models) {
    const std::string stay = model.keep_alive == "-1" ? "until memory is wanted" : model.keep_alive;
    models[fmt::format("{} ({})", stay, model.keep_alive_source)].push_back(model.name);
  }
  std::vector<std::string> parts;
  for (const auto& [stay, names] : models) {
    parts.push_back(fmt::format("{}: {}", stay, fmt::join(names, ", ")));
  }
  return one_line(joined(parts));
}

std::string caches_text(const Circumstances& facts) {
  std::vector<std::string> parts;
  Bytes compiled;
  std::map<std::string, Bytes> stores;
  for (const Circumstances::Model& model : facts.models) {
    compiled += model.compiled;
    stores[model.store] += model.size;
  }
  for (const auto& [store, size] : stores) {
    if (!store.empty()) {
      parts.push_back(fmt::format("models ({}) {}", store, format_bytes(size)));
    }
  }
  if (compiled > Bytes{}) parts.push_back("compiled " + format_bytes(compiled));
  if (facts.prefix.memory && facts.prefix.disk) {
    parts.push_back(fmt::format("prompts {} in memory, {} on disk",
                                format_bytes(*facts.prefix.memory),
                                format_bytes(*facts.prefix.disk)));
  }
  return one_line(joined(parts));
}

std::string options_text(const Circumstances& facts) {
  std::vector<std::string> parts;
  for (const Circumstances::Option& option : facts.options) {
    if (option.name == "listen" || option.name == "data") continue;
    parts.push_back(fmt::format("{} = {} ({})", option.name, option.value, option.origin));
  }
  return one_line(joined(parts));
}

std::string cost_text(const lab::Finding& finding) {
  std::vector<std::string> parts;
  if (finding.seconds_per_day > 0) {
    parts.push_back(format_milliseconds(finding.seconds_per_day * 1000) + " a day");
  } else {
    parts.push_back("no cost seen yet");
  }
  return joined(parts);
}

std::string finding_text(const lab::Finding& finding, std::size_t number,
                         const OutputStyle& style) {
  std::string head = fmt::format("{}  {}", number, style.paint(Paint::kYellow, finding.code));
  if (!finding.model.empty()) head += "  " + one_line(finding.model);
  std::string text = fmt::format("{}  {}\n", head, cost_text(finding));
  text += key_line("found", one_line(finding.text), style);
  text += key_line("remedy", one_line(finding.remedy.text), style);
  if (!finding.remedy.command.empty()) {
    text += key_line("command", one_line(finding.remedy.command), style);
  }
  if (finding.remedy.can_apply()) {
    text += key_line("or", fmt::format("hearth doctor --apply {}", number), style);
  }
  return text;
}

std::string side_text(const lab::Course::Side& side) {
  return fmt::format("{} a day ({} of {} replies)", format_milliseconds(side.per_day * 1000),
                     side.cold, side.requests);
}

}  // namespace

std::string facts_view(const Circumstances& facts, const OutputStyle& style) {
  const std::pair<const char*, std::string> lines[] = {
      {"disks", disks_text(facts)},     {"memory", memory_text(facts)},
      {"swap", swap_text(facts)},       {"cpus", processors_text(facts)},
      {"stay", timers_text(facts)},     {"caches", caches_text(facts)},
      {"options", options_text(facts)},
  };
  std::string text;
  for (const auto& [key, words] : lines) text += key_line(key, words, style);
  for (const Circumstances::NotObservable& one : facts.not_observable) {
    text += key_line("unseen", one_line(fmt::format("{}: {}", one.what, one.why)), style);
  }
  return text;
}

std::string findings_view(const std::vector<lab::Finding>& findings, const LookedAt& looked_at,
                          const OutputStyle& style) {
  const std::string of =
      fmt::format("in {} replies; days looked at: {:.1f}", looked_at.replies, looked_at.days);
  if (findings.empty()) {
    return fmt::format("Nothing was found that is worth a change, {}\n", of);
  }
  std::string text =
      fmt::format("{} {} {}\n", findings.size(), findings.size() == 1 ? "finding" : "findings", of);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    text += '\n' + finding_text(findings[i], i + 1, style);
  }
  return text;
}

std::string courses_view(const Courses& courses, std::int64_t now_us, const OutputStyle& style) {
  if (courses.empty()) return {};
  Table table{{{"APPLIED"}, {"CODE"}, {"MODEL"}, {"BEFORE"}, {"AFTER"}, {"VERDICT"}}};
  for (const auto& [applied, course] : courses) {
    const double age = static_cast<double>(now_us - applied.at_us) / 1e6;
    table.add({format_age(std::max(0.0, age)), applied.code, one_line(applied.model),
               side_text(course.before), side_text(course.after),
               std::string{name_of(course.verdict)}});
  }
  return table.render(style);
}

}  // namespace hearth::cli
