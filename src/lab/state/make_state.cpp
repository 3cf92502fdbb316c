// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "lab/state/load_files.h"
#include "lab/state/state_spec.h"

namespace hearth::lab {
namespace {

using Server = StateSpec::Server;
using Weights = StateSpec::Weights;
using Prompts = StateSpec::Prompts;

bool is_unsupported(const Result<>& result) {
  return !result && result.error().code() == ErrorCode::kUnsupported;
}

// Prompts that nothing but a loaded model, or a running server, holds.
Result<> check(const StateSpec& spec) {
  const bool is_live = spec.prompts == Prompts::kLive;
  const bool is_volatile = is_live || spec.prompts == Prompts::kInMemory;
  const bool has_gone = spec.server != Server::kAsIs || spec.weights == Weights::kUnloaded;
  if (is_live && (has_gone || spec.never_run || spec.new_shape)) {
    return fail(ErrorCode::kUnsupported, "live prompts do not outlive the loaded model");
  }
  if (is_volatile && spec.server == Server::kRestarted) {
    return fail(ErrorCode::kUnsupported, "prompts in memory do not outlive the server");
  }
  return {};
}

class Maker {
 public:
  Maker(const StateSpec& spec, Target& target, Machine& machine, const Question& question)
      : spec_{spec}, target_{target}, machine_{machine}, question_{question} {}

  Result<StateMade> make() {
    if (Result<> sound = check(spec_); !sound) return Failed{std::move(sound).error()};
    using Part = Result<> (Maker::*)();
    // What a step needs comes before it, and what would spoil it: pages last, for each of the
    // others may read files.
    for (const Part part : {&Maker::prompts, &Maker::server, &Maker::weights, &Maker::first_shape,
                            &Maker::artifact, &Maker::programs, &Maker::pages}) {
      if (Result<> done = (this->*part)(); !done) return Failed{std::move(done).error()};
    }
    return std::move(made_);
  }

 private:
  // The start is then a part of what the client waits for.
  bool ends_stopped() const {
    return target_.start_is_waited_for() && spec_.weights == Weights::kUnloaded &&
           spec_.server == Server::kRestarted;
  }

  Result<> take(std::initializer_list<Step> steps) {
    for (const Step step : steps) {
      if (Result<> done = target_.take(step); !done) return done;
    }
    return {};
  }

  Result<> prompts() {
    if (needs_rehearsal(spec_)) return rehearse();
    if (spec_.prompts == Prompts::kAsIs || ends_stopped()) return {};
    if (Result<> started = target_.take(Step::kStart); !started) return started;
    Result<> forgotten = target_.take(Step::kForgetPrompts);
    // Weights that go take live prompts with them; whether that was all the reply will tell.
    const bool go_anyway = spec_.weights == Weights::kUnloaded || spec_.server != Server::kAsIs;
    if (is_unsupported(forgotten) && go_anyway) return {};
    return forgotten;
  }

  Result<> rehearse() {
    if (Result<> loaded = take({Step::kStart, Step::kLoad}); !loaded) return loaded;
    // What is kept of others would not matter, but levels could not tell it from this one.
    Result<> forgotten = target_.take(Step::kForgetPrompts);
    if (!forgotten && !is_unsupported(forgotten)) return forgotten;
    if (Result<> loaded = target_.take(Step::kLoad); !loaded) return loaded;
    if (Result<> asked = ask(question_); !asked) return asked;
    if (spec_.prompts == Prompts::kOnDisk) return target_.take(Step::kPromptsToDisk);
    if (spec_.prompts == Prompts::kInMemory) return target_.take(Step::kPromptsToMemory);
    return {};
  }

  Result<> ask(const Question& question) {
    const Answer answer = target_.ask(question);
    if (answer.ending == Answer::Ending::kDone) return {};
    return fail(ErrorCode::kUnavailable, "the request before it failed: " + answer.problem);
  }

  Result<> server() {
    switch (spec_.server) {
      case Server::kAsIs:
        return {};
      case Server::kWorkerEnded:
        if (Result<> started = target_.take(Step::kStart); !started) return started;
        made_.ended = workers();
        return target_.take(Step::kEndWorker);
      case Server::kRestarted:
        break;
    }
    made_.ended = target_.processes();
    if (Result<> stopped = target_.take(Step::kStop); !stopped) return stopped;
    if (Result<> dropped = programs(); !dropped) return dropped;
    return ends_stopped() ? Result<>{} : target_.take(Step::kStart);
  }

  // Those that map the model; of a model that is not loaded, the only one that there can be.
  std::vector<pid_t> workers() const {
    const std::vector<pid_t> all = target_.processes();
    const std::vector<std::string> files = load_files(target_);
    std::vector<pid_t> found;
    for (const pid_t pid : all) {
      if (machine_.observe({pid}, files).mapped == true) found.push_back(pid);
    }
    if (found.empty() && all.size() == 2) return {all.back()};
    return found;
  }

  Result<> weights() {
    if (spec_.weights == Weights::kAsIs || ends_stopped()) return {};
    if (Result<> started = target_.take(Step::kStart); !started) return started;
    if (spec_.weights == Weights::kUnloaded) return unload();
    const bool has_to_be_fresh = spec_.never_run || spec_.new_shape;
    if (has_to_be_fresh && spec_.server == Server::kAsIs) {
      Result<> unloaded = target_.take(Step::kUnload);
      if (is_unsupported(unloaded)) unloaded = take({Step::kStop, Step::kStart});
      if (!unloaded) return unloaded;
    }
    return target_.take(Step::kLoad);
  }

  // A server that is its model is stopped.
  Result<> unload() {
    Result<> unloaded = target_.take(Step::kUnload);
    if (is_unsupported(unloaded) && target_.start_is_waited_for()) {
      return target_.take(Step::kStop);
    }
    return unloaded;
  }

  // So that what is new is the question's shape and nothing else.
  Result<> first_shape() {
    if (!spec_.new_shape) return {};
    Question small = question_;
    small.prompt = "Hello";
    small.new_tokens = 1;
    return ask(small);
  }

  Result<> artifact() {
    return spec_.model_removed ? target_.take(Step::kRemoveModel) : Result<>{};
  }

  // Each file by itself and as far as it goes: some of them the lab runs itself. While the server
  // is stopped all of them have to go; once it runs again, what it does not use.
  Result<> programs() {
    if (!spec_.programs_dropped) return {};
    const bool is_stopped = target_.processes().empty();
    for (const std::string& file : target_.paths().programs) {
      const Result<> set = machine_.set_pages({file}, 0, PagePattern::kSpread);
      if (!set && set.error().code() != ErrorCode::kConflict &&
          set.error().code() != ErrorCode::kUnavailable) {
        return set;
      }
      if (!set && is_stopped && made_.programs_kept++ == 0) {
        made_.programs_reason = set.error().message();
      }
    }
    return {};
  }

  Result<> pages() {
    if (spec_.prompt_pages) {
      const Result<> set = set_pages(target_.paths().prompt_state, *spec_.prompt_pages);
      if (!set) return set;
    }
    if (!spec_.pages || spec_.model_removed) return {};
    return set_pages(load_files(target_), *spec_.pages);
  }

  Result<> set_pages(const std::vector<std::string>& files, double share) {
    if (files.empty()) {
      return fail(ErrorCode::kUnsupported,
                  "it is not known which files " + target_.name() + " reads");
    }
    return machine_.set_pages(files, share, spec_.pattern);
  }

  const StateSpec& spec_;
  Target& target_;
  Machine& machine_;
  const Question& question_;
  StateMade made_;
};

}  // namespace

bool needs_rehearsal(const StateSpec& spec) {
  return spec.prompts == Prompts::kOnDisk || spec.prompts == Prompts::kInMemory ||
         spec.prompts == Prompts::kLive;
}

Result<StateMade> make_state(const StateSpec& spec, Target& target, Machine& machine,
                             const Question& question) {
  return Maker{spec, target, machine, question}.make();
}

StateProof prove(const Target& target, const Machine& machine, StateMade& made) {
  const std::vector<pid_t> processes = target.processes();
  StateProof proof = machine.observe(processes, load_files(target));
  proof.told = target.levels();
  // Of a server that the lab itself starts, no process is an answer; of another, none was found.
  const bool is_ours = target.start_is_waited_for() || target.last_start_ms() > 0;
  if (!proof.processes && is_ours) proof.processes = 0;
  made.left.clear();
  for (const pid_t pid : made.ended) {
    if (std::ranges::find(processes, pid) != processes.end()) made.left.push_back(pid);
  }
  return proof;
}

}  // namespace hearth::lab
