// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/classes.h"

#include <fmt/format.h>

#include <utility>

namespace hearth::lab {
namespace {

using Server = StateSpec::Server;
using Weights = StateSpec::Weights;
using Prompts = StateSpec::Prompts;
using When = StateSpec::When;

class Classes {
 public:
  explicit Classes(Preset preset) : full_{preset == Preset::kFull} {}

  Study make() {
    starts();
    pages();
    loads();
    prompts();
    pauses();
    neighbours();
    return std::move(study_);
  }

 private:
  Arm& add(std::string name, std::string about) {
    study_.arms.emplace_back();
    study_.arms.back().prompt_tokens = kKeptPrompt;
    StateSpec& state = study_.arms.back().state;
    state.name = std::move(name);
    state.about = std::move(about);
    return study_.arms.back();
  }

  void starts() {
    StateSpec& reboot = add("after reboot",
                            "Server restarted; model, prompt state and programs are not in memory. "
                            "The machine itself is not restarted.")
                            .state;
    reboot.server = Server::kRestarted;
    reboot.weights = Weights::kUnloaded;
    reboot.programs_dropped = true;
    reboot.pages = 0;

    StateSpec& missing =
        add("model missing", "The model's file is gone and is fetched again.").state;
    missing.weights = Weights::kUnloaded;
    missing.model_removed = true;

    StateSpec& recreated =
        add("container recreated", "Server restarted; the page cache holds the whole model.").state;
    recreated.server = Server::kRestarted;
    recreated.weights = Weights::kUnloaded;
    recreated.pages = 1;

    StateSpec& ended =
        add("process ended", "The process with the model was killed; all pages are there.").state;
    ended.server = Server::kWorkerEnded;
    ended.weights = Weights::kUnloaded;
    ended.pages = 1;
  }

  void cold_pages(int percent, PagePattern pattern) {
    const bool head = pattern == PagePattern::kHead;
    StateSpec& state =
        add(fmt::format("page-cold {} %{}", percent, head ? ", end of file" : ""),
            percent == 100 ? "Unloaded; no page of the model is in memory."
                           : fmt::format("Unloaded; {} % of the model's pages are not in memory{}.",
                                         percent, head ? ", those at its end" : ""))
            .state;
    state.weights = Weights::kUnloaded;
    state.pages = 1 - percent / 100.0;
    state.pattern = pattern;
  }

  void pages() {
    for (const int percent : {100, 75, 50, 25, 10}) {
      if (full_ || percent == 100 || percent == 50) cold_pages(percent, PagePattern::kSpread);
    }
    if (full_) cold_pages(50, PagePattern::kHead);
  }

  void loads() {
    StateSpec& hollow =
        add("unloaded", "The server runs, all pages are in memory, the model is not loaded.").state;
    hollow.weights = Weights::kUnloaded;
    hollow.pages = 1;

    add("after load", "Loaded, and not asked anything since.").state.never_run = true;

    Arm& shape = add("first shape", "Loaded and used; the prompt is longer than any before.");
    shape.state.new_shape = true;
    shape.prompt_tokens = kKeptPrompt + 40;
    shape.longer_each_block = 40;
  }

  void prompts() {
    add("prefix cold", "Loaded and used; no state of the prompt is kept.");
    StateSpec& disk = add("prefix on disk", "Loaded; the prompt's state lies on disk.").state;
    disk.prompts = Prompts::kOnDisk;
    if (full_) {
      disk.prompt_pages = 1;
      StateSpec& cold =
          add("prefix on cold disk", "Loaded; the prompt's state is on disk and not in memory.")
              .state;
      cold.prompts = Prompts::kOnDisk;
      cold.prompt_pages = 0;
    }
    add("prefix in memory", "Loaded; the prompt's state waits in memory beside the model.")
        .state.prompts = Prompts::kInMemory;
    add("immediate repeat", "The same question for the second time, with nothing in between.")
        .state.prompts = Prompts::kLive;
  }

  void pauses() {
    Arm& idle = add("long idle", "Used, then 8 hours without a request: their events, injected.");
    idle.pause = std::chrono::hours{8};
  }

  struct Neighbour {
    Competitor competitor;
    const char* name;
    const char* what;
    bool before, during;  // also in kQuick
  };

  void competing(const Neighbour& neighbour, When when) {
    const bool during = when == When::kDuring;
    StateSpec& state = add(std::string{during ? "during " : "after "} + neighbour.name,
                           fmt::format("Loaded, the question asked before; {} {}.", neighbour.what,
                                       during ? "at the same time" : "in between"))
                           .state;
    state.prompts = Prompts::kLive;
    state.competitor = neighbour.competitor;
    state.competes = when;
  }

  void neighbours() {
    constexpr Neighbour kAll[] = {
        {Competitor::kBackupScan, "backup scan", "a backup reads files", true, true},
        {Competitor::kMemory, "second model",
         "another program takes the memory that a second, large model would", false, false},
        {Competitor::kDatabase, "database", "a database reads and writes small pieces", false,
         false},
        {Competitor::kFileServing, "file serving", "files are read for others", false, false},
        {Competitor::kProcessor, "busy processors", "other programs compute", false, false}};
    for (const Neighbour& neighbour : kAll) {
      // What only computes leaves nothing behind.
      const bool leaves = neighbour.competitor != Competitor::kProcessor;
      if (leaves && (full_ || neighbour.before)) competing(neighbour, When::kBefore);
      if (full_ || neighbour.during) competing(neighbour, When::kDuring);
    }
  }

  const bool full_;
  Study study_{.name = "classes", .arms = {}};
};

}  // namespace

Study response_classes(Preset preset) { return Classes{preset}.make(); }

}  // namespace hearth::lab
