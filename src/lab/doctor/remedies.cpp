// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/size_text.h"

namespace hearth::lab {
namespace {

// {model} stands for the model. An empty command with an action is made from the action.
struct Row {
  std::string_view code;
  std::string_view text;
  std::string_view command;
  std::string_view action;
  std::string_view layer;
};

constexpr std::string_view kFetch = "fetch the model's files before somebody asks for it";
constexpr std::string_view kStill = "replace files while nobody waits, and read the new one then";
constexpr std::string_view kCompile = "keep what starts compute, and make it again after updates";
constexpr std::string_view kLeave =
    "let nothing tell the kernel to drop model files, and lock this one's into memory";
constexpr std::string_view kKeep = "keep the model loaded, over restarts too";

constexpr std::array kRows{
    Row{"artifact.absent", kFetch, "", "warm", "artifact"},
    Row{"artifact.partial", kFetch, "", "warm", "artifact"},
    Row{"artifact.changed", kFetch, "", "warm", "artifact"},
    Row{"pages.never_read",
        "prefetch the model's files into memory after each start of the machine", "", "pin",
        "pages"},
    Row{"pages.dropped", kLeave, "", "pin", "pages"},
    Row{"pages.replaced", kStill, "", "warm", "pages"},
    Row{"weights.first_use", kKeep, "", "pin", "weights"},
    Row{"weights.asked", "do not unload it where it is asked for again; a pin stands in the way",
        "", "pin", "weights"},
    Row{"weights.worker_died",
        "see in the server's log what ended the worker; want of memory is "
        "the usual cause",
        "journalctl -u hearth | grep worker", "", ""},
    Row{"weights.options", "ask for the model with the same load options everywhere", "hearth ps",
        "", ""},
    Row{"compiled.first", kCompile, "", "warm", "compiled"},
    Row{"compiled.engine", kCompile, "", "warm", "compiled"},
    Row{"compiled.driver", kCompile, "", "warm", "compiled"},
    Row{"compiled.hardware", kCompile, "", "warm", "compiled"},
    Row{"compiled.model", kCompile, "", "warm", "compiled"},
    Row{"compiled.shape", "run the shapes that are used once, before somebody waits for them", "",
        "warm", "compiled"},
    Row{"prefix.diverged", "put what changes (a date, an id) behind what stays, or have it cut out",
        "prefix_normalise = [\"Current date: *\"]  # in hearth.toml, then: hearth config reload",
        "", ""},
    Row{"prefix.short", "put longer fixed instructions first", "hearth prefix", "", ""},
    Row{"prefix.other_options", "use the same load options everywhere", "hearth ps", "", ""},
    Row{"prefix.not_restorable", "keep the model loaded between the turns of a conversation", "",
        "pin", "weights"},
    Row{"queue.busy", "evaluate more requests of this model side by side",
        "parallel = 8  # in hearth.toml, then restart the server", "", ""},
    Row{"queue.behind_load", "load this model before others are asked for", "", "pin", "weights"},
    Row{"power.ramp", "nothing: it is a matter of milliseconds, and power saving is worth more",
        "hearth why", "", ""},
    Row{"cpu.contended", "move heavy jobs to other hours, or let replies go first",
        "worker_nice = -5  # in hearth.toml, then restart the server", "", ""},
};

Remedy of_row(const Row& row, const std::string& model) {
  Remedy remedy{std::string{row.text}, std::string{row.command}, std::string{row.action},
                std::string{row.layer}};
  if (remedy.can_apply()) {
    const bool usual = remedy.action == "pin" && remedy.layer == "weights";
    remedy.command = fmt::format("hearth {} {}", row.action, model);
    if (!usual) remedy.command += fmt::format(" --layer {}", row.layer);
  }
  return remedy;
}

Remedy keep_longer(const std::string& model, const Circumstances& facts) {
  Remedy remedy{"", fmt::format("hearth pin {}", model), "pin", "weights"};
  const Circumstances::Model* known = facts.model(model);
  const bool told = known != nullptr && !known->keep_alive_source.empty() &&
                    known->keep_alive_source != "default";
  remedy.text = told ? fmt::format("keep the model longer than the {} that {} says; a pin does",
                                   known->keep_alive, known->keep_alive_source)
                     : "keep the model longer than requests ask for; a pin does";
  return remedy;
}

Bytes size_of(const std::string& model, const Circumstances& facts) {
  const Circumstances::Model* known = facts.model(model);
  return known == nullptr ? Bytes{} : known->need.value_or(known->size);
}

// Of the page cache: a limit around the server takes it, too.
Remedy keep_headroom(const std::string& model, const Circumstances& facts) {
  const Circumstances::Memory& memory = facts.memory;
  const Bytes size = size_of(model, facts);
  if (memory.cgroup_limit && *memory.cgroup_limit < size + size) return remedy_for_memory(facts);
  return {"keep headroom for the page cache: leave memory free, or lock this model's files into it",
          fmt::format("hearth pin {} --layer pages", model), "pin", "pages"};
}

Remedy keep_more_prompts(const Circumstances& facts) {
  const Bytes limit = facts.prefix.memory_limit.value_or(Bytes{});
  const std::uint64_t mib = std::max<std::uint64_t>(256, 2 * (limit.count() >> 20));
  return {"keep more of prompts in memory, and some on disk",
          fmt::format("prefix_memory_mib = {}  # in hearth.toml, then: hearth config reload", mib),
          "", ""};
}

}  // namespace

Remedy remedy_for_memory(const Circumstances& facts) {
  const Circumstances::Memory& memory = facts.memory;
  Bytes all;
  for (const Circumstances::Model& model : facts.models) all += model.need.value_or(model.size);
  const std::uint64_t mib = all.count() >> 20;
  const bool by_group =
      memory.cgroup_limit && memory.limit && *memory.cgroup_limit < *memory.limit + *memory.limit;
  const bool configured = memory.limit_reason.find("configured") != std::string::npos;
  if (by_group && !configured) {
    return {"raise the memory limit around the server",
            fmt::format("systemctl set-property hearth.service MemoryMax={}M  # now {}", 2 * mib,
                        size_text(*memory.cgroup_limit)),
            "", ""};
  }
  return {"give models more memory, or use smaller ones",
          fmt::format("memory_mib = {}  # in hearth.toml, then: hearth config reload", mib * 5 / 4),
          "", ""};
}

Remedy remedy_for(std::string_view code, const std::string& model, const Circumstances& facts) {
  if (code == "weights.idle") return keep_longer(model, facts);
  if (code == "weights.evicted_for") return remedy_for_memory(facts);
  if (code == "pages.evicted") return keep_headroom(model, facts);
  if (code == "pages.swapped" || code == "memory.swapped") {
    return {"leave more memory free: let models hold less, or add memory", "hearth memory", "", ""};
  }
  if (code == "prefix.evicted") return keep_more_prompts(facts);
  const auto* row = std::ranges::find(kRows, code, &Row::code);
  if (row != kRows.end()) return of_row(*row, model);
  return {"look at one of these replies", "hearth why", "", ""};
}

}  // namespace hearth::lab
