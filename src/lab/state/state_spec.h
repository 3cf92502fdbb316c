// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "lab/machine/machine.h"
#include "lab/target/target.h"
#include "lab/trial.h"

namespace hearth::lab {

// A state that a server is brought into before a request, layer by layer. Studies are lists of
// these; how one comes about is in make_state().
struct StateSpec {
  std::string name;   // the arm: "page-cold 50 %"
  std::string about;  // for the report: what it stands for, in one line

  enum class Server { kAsIs, kRestarted, kWorkerEnded };
  enum class Weights { kResident, kUnloaded, kAsIs };
  enum class Prompts { kAsIs, kForgotten, kOnDisk, kInMemory, kLive };
  Server server = Server::kAsIs;
  Weights weights = Weights::kResident;
  Prompts prompts = Prompts::kForgotten;
  bool model_removed = false;
  bool programs_dropped = false;  // executables and libraries too, as after a reboot
  std::optional<double> pages;    // share that is resident; unset: as it comes
  PagePattern pattern = PagePattern::kSpread;
  std::optional<double> prompt_pages;  // of the prompt state's files
  bool never_run = false;              // loaded, and no request yet
  bool new_shape = false;              // the question is longer than any before

  enum class When { kNever, kBefore, kDuring };
  std::optional<Competitor> competitor;
  When competes = When::kNever;
};

// What became of making a state; its proof is compared to it.
struct StateMade {
  std::vector<pid_t> ended{};     // processes that had to end on the way
  std::vector<pid_t> left{};      // of those, who was there when the proof was taken
  double seconds = 0;             // from the beginning of its making to its proof
  int programs_kept = 0;          // executables and libraries that were to be dropped and were not
  std::string programs_reason{};  // of the first of them
};

// Whether the question is to be sent a first time so that its prompt can be kept.
bool needs_rehearsal(const StateSpec& spec);

// Brings the target there, in an order that later steps do not spoil. Errors: kUnsupported (this
// server cannot; the arm is left out and the report says why), kUnavailable, kConflict.
Result<StateMade> make_state(const StateSpec& spec, Target& target, Machine& machine,
                             const Question& question);

// What can be seen of the target right now, and what it tells; completes `made`.
StateProof prove(const Target& target, const Machine& machine, StateMade& made);

// Why what was found is not that state; nullopt: it is. What could not be observed is a reason too,
// unless `spec` does not speak of it. Where the kernel can be asked, its word counts more than the
// server's.
std::optional<std::string> contradiction(const StateSpec& spec, const StateProof& proof,
                                         const StateMade& made = {});

// The same when the reply is there: of a server that nothing else is known of, tokens that a loaded
// model had kept prove that it was loaded.
std::optional<std::string> contradiction(const StateSpec& spec, const StateProof& proof,
                                         const StateMade& made, const Answer& answer);

// Why what the reply says does not go with the state: cached tokens where prompts were forgotten.
std::optional<std::string> contradiction(const StateSpec& spec, const Answer& answer);

}  // namespace hearth::lab
