// SPDX-License-Identifier: Apache-2.0
#include "lab/trial_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include "lab/state/load_files.h"
#include "lab/trial_checks.h"

namespace hearth::lab {
namespace {

using namespace std::chrono_literals;

constexpr auto kCompetesBefore = 5s;

// Deterministic: std::shuffle may differ from one library to the next.
std::vector<std::size_t> shuffled(std::size_t count, std::mt19937_64& engine) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t n = count; n > 1; --n) std::swap(order[n - 1], order[engine() % n]);
  return order;
}

bool drops_pages(const StateSpec& spec) {
  return spec.programs_dropped || spec.model_removed || (spec.pages && *spec.pages < 1) ||
         (spec.prompt_pages && *spec.prompt_pages < 1);
}

std::string_view word_for(Answer::Ending ending) {
  constexpr std::array<std::string_view, 5> kWords{"",
                                                   "refused: ", "hung: ", "broken: ", "garbage: "};
  return kWords[static_cast<std::size_t>(ending)];
}

void copy_answer(const Answer& answer, Trial& trial) {
  const std::optional<double> start_ms = trial.timing.start_ms;
  trial.timing = answer.timing;
  trial.timing.start_ms = start_ms;
  trial.response_class = answer.response_class;
  trial.verdict_code = answer.verdict_code;
  trial.verdict_text = answer.verdict_text;
  trial.report = answer.report;
}

// A study of several models has a server for each, all of them of one side.
std::string model_key(const Target& target, const Question& question, const Trial& trial) {
  return fmt::format("{}\n{}\n{}\n{}", trial.side, fmt::ptr(&target), trial.model, question.model);
}

// Tokens come slower behind a long prompt; prompts of about one length share a control.
std::string rate_key(const Target& target, const Question& question, const Trial& trial) {
  return fmt::format("{}\n{}", model_key(target, question, trial),
                     std::bit_width(question.prompt.size() / 256));
}

std::string failure_of(const Error& error) {
  const bool is_unsupported = error.code() == ErrorCode::kUnsupported;
  return std::string{is_unsupported ? kUnsupportedFailure : kStateFailure} + error.message();
}

bool is_worth_another_try(const Trial& trial) {
  // A server that hangs would do so again, and each time takes all of our patience.
  return trial.failure.empty() ? !trial.flags.empty() : trial.failure.starts_with(kStateFailure);
}

// Of a server that stays up its start is no part of a wait, but good to know.
void note_start(const StateSpec& spec, const Target& target, const StateMade& made, Trial& trial) {
  if (spec.server == StateSpec::Server::kRestarted && !target.start_is_waited_for()) {
    trial.extra["server_start_ms"] = target.last_start_ms();
  }
  if (spec.programs_dropped) trial.extra["programs_kept"] = made.programs_kept;
}

}  // namespace

std::vector<Plan> randomised(const std::string& study, const std::vector<StateSpec>& states,
                             std::size_t sides, int repetitions, std::uint64_t seed) {
  std::mt19937_64 engine{seed};
  std::vector<Plan> plans;
  for (int block = 0; block < repetitions; ++block) {
    const std::vector<std::size_t> order = shuffled(states.size(), engine);
    for (std::size_t place = 0; place < order.size(); ++place) {
      for (std::size_t turn = 0; turn < sides; ++turn) {
        Plan plan;
        plan.study = study;
        plan.arm = states[order[place]].name;
        plan.state = order[place];
        plan.side = (turn + order[place] + static_cast<std::size_t>(block)) % sides;
        plan.block = plan.repetition = block;
        plans.push_back(std::move(plan));
      }
    }
  }
  return plans;
}

TrialRunner::TrialRunner(World world, Options options)
    : world_{std::move(world)},
      options_{options},
      order_{static_cast<int>(world_.rows.rows().size())} {}

std::string TrialRunner::competition_directory(const RunDirectory& rows) {
  return rows.scratch() + "/competition";
}

Trial TrialRunner::run(const Plan& plan, const StateSpec& spec, Target& target,
                       const Question& question, const Preparation& before_each_try) {
  const Job job{plan, spec, target, question, before_each_try};
  Trial trial;
  for (int n = 0; n < tries_of(job); ++n) {
    if (is_stopped()) {
      if (n == 0) trial.failure = "stopped";
      break;
    }
    trial = attempt(job);
    // What ^C has spoiled is no finding.
    if (is_stopped() && !trial.counts()) break;
    keep(trial);
    if (!is_worth_another_try(trial)) break;
  }
  return trial;
}

int TrialRunner::tries_of(const Job& job) const {
  const bool stays = job.spec.prompts == StateSpec::Prompts::kAsIs && !job.before_each_try;
  return job.spec.new_shape || stays ? 1 : std::max(1, options_.tries);
}

void TrialRunner::keep(const Trial& trial) {
  const Result<> added = world_.rows.add(trial);
  not_written_ = added ? std::string{} : added.error().message();
  if (world_.on_trial) world_.on_trial(trial);
}

Trial TrialRunner::attempt(const Job& job) {
  Trial trial;
  trial.study = job.plan.study;
  trial.side = job.target.name();
  trial.arm = job.plan.arm;
  trial.model = job.plan.model;
  trial.block = job.plan.block;
  trial.repetition = job.plan.repetition;
  trial.extra = job.plan.extra;
  trial.order = order_++;
  trial.started_wall_us = world_.clock.wall_us();
  if (job.before_each_try) job.before_each_try();
  const TimePoint began = world_.clock.now();
  Result<StateMade> made = prepare(job);
  const Result<> ready =
      made ? compete_before(job, trial) : Result<>{Failed{std::move(made).error()}};
  if (!ready) {
    trial.failure = failure_of(ready.error());
    // It may hang; whoever is started anew does not. Others refuse it.
    const bool may_hang = ready.error().code() != ErrorCode::kUnsupported;
    if (may_hang && !is_stopped()) (void)job.target.take(Step::kStop);
    return trial;
  }
  made->seconds = milliseconds_of(world_.clock.now() - began) / 1000;
  measure(job, std::move(*made), trial);
  return trial;
}

Result<StateMade> TrialRunner::prepare(const Job& job) {
  if (drops_pages(job.spec)) {
    for (Target* other : world_.sides) {
      // One that can do neither is found out, if it maps the file, by the pages that stay.
      if (other != &job.target && !other->take(Step::kUnload)) (void)other->take(Step::kStop);
    }
  }
  return make_state(job.spec, job.target, world_.machine, job.question);
}

Result<> TrialRunner::compete_before(const Job& job, Trial& trial) {
  if (!job.spec.competitor || job.spec.competes != StateSpec::When::kBefore) return {};
  auto competition =
      world_.machine.compete(*job.spec.competitor, competition_directory(world_.rows));
  if (!competition) return Failed{std::move(competition).error()};
  world_.machine.sleep(kCompetesBefore);
  trial.extra["competitor_bytes"] = static_cast<double>((*competition)->done().count());
  return {};
}

void TrialRunner::note_pause(const Plan::Pause& pause, Trial& trial) const {
  const double waited_s = static_cast<double>(world_.clock.wall_us() - pause.begun_us) / 1e6;
  trial.extra["waited_s"] = waited_s;
  if (auto why = overlong(waited_s, pause.length)) trial.flags.push_back(std::move(*why));
}

bool TrialRunner::start(Target& target, Trial& trial) {
  if (!target.start_is_waited_for() || !target.processes().empty()) return true;
  if (const Result<> started = target.take(Step::kStart); !started) {
    trial.failure = "start: " + started.error().message();
    return false;
  }
  trial.timing.start_ms = target.last_start_ms();
  return true;
}

std::unique_ptr<Competition> TrialRunner::compete_beside(const Job& job, Trial& trial) {
  if (!job.spec.competitor || job.spec.competes != StateSpec::When::kDuring) return nullptr;
  auto begun = world_.machine.compete(*job.spec.competitor, competition_directory(world_.rows));
  if (begun) return std::move(*begun);
  trial.failure = failure_of(begun.error());
  return nullptr;
}

void TrialRunner::measure(const Job& job, StateMade made, Trial& trial) {
  const TimePoint began = world_.clock.now();
  // Measured once for each device, while nothing is asked.
  (void)fastest_read(job);
  if (options_.quiet_patience > 0ms && !world_.machine.wait_for_quiet(options_.quiet_patience)) {
    trial.flags.push_back("busy: the machine did not become quiet");
  }
  const std::unique_ptr<Competition> beside = compete_beside(job, trial);
  if (!trial.failure.empty()) return;
  made.seconds += milliseconds_of(world_.clock.now() - began) / 1000;
  trial.before = prove(job.target, world_.machine, made);
  Target& target = job.target;
  note_start(job.spec, target, made, trial);
  const auto meter = world_.machine.watch([&target] { return target.processes(); });
  if (!start(target, trial)) return;
  if (job.plan.pause) note_pause(*job.plan.pause, trial);
  const Answer answer = target.ask(job.question);
  trial.effects = meter->read();
  if (beside) trial.extra["competitor_bytes"] = static_cast<double>(beside->done().count());
  copy_answer(answer, trial);
  judge(job, made, answer, trial);
}

void TrialRunner::judge(const Job& job, const StateMade& made, const Answer& answer, Trial& trial) {
  if (answer.ending != Answer::Ending::kDone) {
    trial.failure = std::string{word_for(answer.ending)} + answer.problem;
    // So that the next trial finds a server that answers.
    if (answer.ending == Answer::Ending::kHung) (void)job.target.take(Step::kStop);
    return;
  }
  const auto flag = [&](std::string_view kind, const std::optional<std::string>& reason) {
    if (reason) trial.flags.push_back(std::string{kind} + *reason);
  };
  flag("state: ", contradiction(job.spec, trial.before, made, answer));
  flag("state: ", contradiction(job.spec, answer));
  if (options_.quiet_patience > 0ms) flag("", disturbance(trial, options_.disturbed_cores));
  flag("", idleness(trial));
  flag("", impossibility(job.spec, trial, fastest_read(job)));
  flag("", too_fast_for_its_limit(job.spec, trial));
  flag("", shortness(job.question, answer));
  compare_text(job, answer, trial);
  if (answer.timing.tokens_per_second) {
    compare_rate(job, *answer.timing.tokens_per_second, trial);
  }
}

void TrialRunner::compare_rate(const Job& job, double rate, Trial& trial) {
  // Beside a competitor tokens are meant to come slower.
  if (!trial.counts() || job.spec.competes == StateSpec::When::kDuring) return;
  std::vector<double>& rates = rates_[rate_key(job.target, job.question, trial)];
  if (auto reason = control_off(rate, rates, options_.rate_tolerance)) {
    trial.flags.push_back(std::move(*reason));
  }
  rates.push_back(rate);
}

std::optional<double> TrialRunner::fastest_read(const Job& job) {
  const std::vector<std::string> files = load_files(job.target);
  if (files.empty() || !job.spec.pages) return std::nullopt;
  return world_.machine.fastest_read(files.front());
}

void TrialRunner::compare_text(const Job& job, const Answer& answer, Trial& trial) {
  const std::string asked = model_key(job.target, job.question, trial);
  const std::string& model = models_.try_emplace(asked, answer.model).first->second;
  if (model != answer.model) {
    trial.flags.push_back(
        fmt::format("text: the model was \"{}\" and is \"{}\"", model, answer.model));
  }
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}", asked, trial.arm, job.question.new_tokens, job.question.prompt);
  const std::string& text = texts_.try_emplace(key, answer.text).first->second;
  if (text != answer.text) {
    trial.flags.push_back("text: the same question got another answer in the same state");
  }
}

}  // namespace hearth::lab
