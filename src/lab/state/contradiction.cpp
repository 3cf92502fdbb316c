// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "lab/state/state_spec.h"

namespace hearth::lab {
namespace {

using Reason = std::optional<std::string>;
using Server = StateSpec::Server;
using Weights = StateSpec::Weights;
using Prompts = StateSpec::Prompts;

constexpr double kPagesTolerance = 0.01;
constexpr double kAgeSlack_s = 1;   // two clocks are compared
constexpr double kLeastHeld = 0.1;  // of the weights, where nothing of them is mapped

// nullptr: the server does not tell.
const std::string* told(const StateProof& proof, const char* layer) {
  const auto found = proof.told.find(layer);
  return found == proof.told.end() ? nullptr : &found->second;
}

double number(const std::optional<Bytes>& bytes) {
  return static_cast<double>(bytes.value_or(Bytes{}).count());
}

Reason wrong_pages(const StateSpec& spec, const StateProof& proof) {
  if (!spec.pages || spec.model_removed) return std::nullopt;
  if (!proof.pages) return "which pages are resident could not be observed";
  if (std::abs(*proof.pages - *spec.pages) <= kPagesTolerance) return std::nullopt;
  return fmt::format("{:.1f} % of the pages were resident, not {:.1f} %", 100 * *proof.pages,
                     100 * *spec.pages);
}

// By what the kernel says: a process maps the file, or has as much memory of its own.
std::optional<bool> holds_weights(const StateProof& proof) {
  if (proof.processes == 0) return false;
  if (proof.mapped == true) return true;
  if (!proof.resident || !proof.load_set) return std::nullopt;
  return number(proof.anonymous) + number(proof.device) >= 0.8 * number(proof.load_set);
}

// What the kernel knows for certain against the server's word.
Reason denied(const StateProof& proof, const std::string& level) {
  const auto reason = [&level](std::string_view what) {
    return fmt::format("the server said that the weights were \"{}\", but {}", level, what);
  };
  if (level != "resident") {
    if (proof.mapped == true) return reason("a process mapped the model's file");
    return std::nullopt;
  }
  if (proof.processes == 0) return reason("it had no process");
  // Without the graphics memory's figure they may be there.
  const bool is_known = proof.mapped == false && proof.resident && proof.device && proof.load_set;
  if (is_known &&
      number(proof.resident) + number(proof.device) < kLeastHeld * number(proof.load_set)) {
    return reason("its processes had no such memory");
  }
  return std::nullopt;
}

Reason wrong_weights(const StateSpec& spec, const StateProof& proof) {
  if (spec.weights == Weights::kAsIs) return std::nullopt;
  const bool wanted = spec.weights == Weights::kResident;
  if (const std::string* level = told(proof, "weights")) {
    if ((*level == "resident") == wanted && *level != "loading") return denied(proof, *level);
    return fmt::format("the server said that the weights were \"{}\"", *level);
  }
  if (!proof.processes) return "whether the weights were resident could not be observed";
  const std::optional<bool> found = holds_weights(proof);
  if (!found) return "whether the weights were resident could not be observed";
  if (*found == wanted) return std::nullopt;
  return *found ? "a process held the weights" : "no process held the weights";
}

Reason wrong_server(const StateSpec& spec, const StateProof& proof, const StateMade& made) {
  if (spec.server == Server::kAsIs) return std::nullopt;
  if (!made.left.empty()) {
    return fmt::format("process {} was to end and is still there", made.left.front());
  }
  if (proof.processes == 0) return std::nullopt;
  // Where a worker was ended and nothing is loaded, the server itself is all that there is.
  const bool has_new_holder = spec.weights == Weights::kResident;
  if (spec.server == Server::kWorkerEnded && !has_new_holder) return std::nullopt;
  if (!proof.holder_age_s) return "the age of the server's process could not be observed";
  if (*proof.holder_age_s <= made.seconds + kAgeSlack_s) return std::nullopt;
  return fmt::format("the process was {:.0f} s old, and it was to be started anew {:.0f} s ago",
                     *proof.holder_age_s, made.seconds);
}

std::string_view level_of(Prompts prompts) {
  switch (prompts) {
    case Prompts::kOnDisk:
      return "on disk";
    case Prompts::kInMemory:
      return "in RAM";
    case Prompts::kLive:
      return "live";
    default:
      return "none";
  }
}

// Where nothing is told, the reply is what proves it.
Reason wrong_prompts(const StateSpec& spec, const StateProof& proof) {
  const std::string* level = told(proof, "prefix");
  if (spec.prompts == Prompts::kAsIs || level == nullptr) return std::nullopt;
  if (*level == level_of(spec.prompts)) return std::nullopt;
  // The small request that came before a new shape is kept too, and begins otherwise.
  if (spec.new_shape && spec.prompts == Prompts::kForgotten) return std::nullopt;
  return fmt::format("the server said that prompts were \"{}\", not \"{}\"", *level,
                     level_of(spec.prompts));
}

Reason wrong_artifact(const StateSpec& spec, const StateProof& proof) {
  if (!spec.model_removed) return std::nullopt;
  const std::string* level = told(proof, "artifact");
  const bool is_there =
      level != nullptr ? *level == "local" || *level == "verified" : proof.load_set.has_value();
  return is_there ? Reason{"the model's file was still there"} : std::nullopt;
}

Reason wrong_programs(const StateMade& made) {
  if (made.programs_kept == 0) return std::nullopt;
  return fmt::format("{} of the programs stayed in memory: {}", made.programs_kept,
                     made.programs_reason);
}

// Where neither kernel nor server says anything.
bool shows_weights(const StateSpec& spec, const StateProof& proof, const Answer& answer) {
  const bool is_told = proof.processes || told(proof, "weights") != nullptr;
  if (is_told || spec.weights != Weights::kResident || spec.prompts != Prompts::kLive) return false;
  const int prompt = answer.timing.prompt_tokens.value_or(0);
  return prompt > 0 && answer.timing.cached_tokens.value_or(0) >= std::max(1, prompt / 2);
}

}  // namespace

std::optional<std::string> contradiction(const StateSpec& spec, const StateProof& proof,
                                         const StateMade& made) {
  for (const auto check : {wrong_pages, wrong_weights, wrong_prompts, wrong_artifact}) {
    if (Reason reason = check(spec, proof)) return reason;
  }
  if (Reason reason = wrong_server(spec, proof, made)) return reason;
  return wrong_programs(made);
}

std::optional<std::string> contradiction(const StateSpec& spec, const StateProof& proof,
                                         const StateMade& made, const Answer& answer) {
  StateSpec rest = spec;
  if (shows_weights(spec, proof, answer)) rest.weights = Weights::kAsIs;
  return contradiction(rest, proof, made);
}

std::optional<std::string> contradiction(const StateSpec& spec, const Answer& answer) {
  const int prompt = answer.timing.prompt_tokens.value_or(0);
  const std::optional<int> cached = answer.timing.cached_tokens;
  if (!cached || prompt == 0) return std::nullopt;
  // A beginning that all prompts share may stay with the weights.
  if (spec.prompts == Prompts::kForgotten && *cached > std::max(4, prompt / 10)) {
    return fmt::format("{} of {} tokens were cached though prompts had been forgotten", *cached,
                       prompt);
  }
  if (needs_rehearsal(spec) && *cached < prompt / 2) {
    return fmt::format("only {} of {} tokens came from a cache", *cached, prompt);
  }
  return std::nullopt;
}

}  // namespace hearth::lab
