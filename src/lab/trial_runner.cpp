// SPDX-License-Identifier: Apache-2.0
#include "lab/trial_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
constexpr std::string_view kStateFailure = "state: ";

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

std::string failure_of(const Error& error) {
  const bool is_unsupported = error.code() == ErrorCode::kUnsupported;
  return std::string{is_unsupported ? kUnsupportedFailure : kStateFailure} + error.message();
}

bool is_worth_another_try(const Trial& trial) {
  // A server that hangs would do so again, and each time takes all of our patience.
  return trial.failure.empty() ? !trial.flags.empty() : trial.failure.starts_with(kStateFailure);
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
  return rows.path() + "/competition";
}

Trial TrialRunner::run(const Plan& plan, const StateSpec& spec, Target& target,
                       const Question& question) {
  const Job job{plan, spec, target, question};
  Trial trial;
  for (int n = 0; n < std::max(1, options_.tries); ++n) {
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
  trial.block = job.plan.block;
  trial.repetition = job.plan.repetition;
  trial.extra = job.plan.extra;
  trial.order = order_++;
  trial.started_wall_us = world_.clock.wall_us();
  Result<> made = prepare(job);
  if (made) made = compete_before(job, trial);
  if (!made) {
    trial.failure = failure_of(made.error());
    return trial;
  }
  measure(job, trial);
  return trial;
}

Result<> TrialRunner::prepare(const Job& job) {
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

bool TrialRunner::start(Target& target, Trial& trial) {
  if (!target.start_is_waited_for() || !target.processes().empty()) return true;
  if (const Result<> started = target.take(Step::kStart); !started) {
    trial.failure = "start: " + started.error().message();
    return false;
  }
  trial.timing.start_ms = target.last_start_ms();
  return true;
}

void TrialRunner::measure(const Job& job, Trial& trial) {
  // Measured once for each device, while nothing is asked.
  (void)fastest_read(job);
  if (options_.quiet_patience > 0ms && !world_.machine.wait_for_quiet(options_.quiet_patience)) {
    trial.flags.push_back("busy: the machine did not become quiet");
  }
  std::unique_ptr<Competition> beside;
  if (job.spec.competitor && job.spec.competes == StateSpec::When::kDuring) {
    auto begun = world_.machine.compete(*job.spec.competitor, competition_directory(world_.rows));
    if (!begun) {
      trial.failure = failure_of(begun.error());
      return;
    }
    beside = std::move(*begun);
  }
  trial.before = world_.machine.observe(job.target.processes(), load_files(job.target));
  trial.before.told = job.target.levels();
  Target& target = job.target;
  const auto meter = world_.machine.watch([&target] { return target.processes(); });
  if (!start(target, trial)) return;
  const Answer answer = target.ask(job.question);
  trial.effects = meter->read();
  if (beside) trial.extra["competitor_bytes"] = static_cast<double>(beside->done().count());
  copy_answer(answer, trial);
  judge(job, answer, trial);
}

void TrialRunner::judge(const Job& job, const Answer& answer, Trial& trial) {
  if (answer.ending != Answer::Ending::kDone) {
    trial.failure = std::string{word_for(answer.ending)} + answer.problem;
    // So that the next trial finds a server that answers.
    if (answer.ending == Answer::Ending::kHung) (void)job.target.take(Step::kStop);
    return;
  }
  const auto flag = [&](std::string_view kind, const std::optional<std::string>& reason) {
    if (reason) trial.flags.push_back(std::string{kind} + *reason);
  };
  flag("state: ", contradiction(job.spec, trial.before));
  flag("state: ", contradiction(job.spec, answer));
  if (options_.quiet_patience > 0ms) flag("", disturbance(trial, options_.disturbed_cores));
  flag("", impossibility(job.spec, trial, fastest_read(job)));
  compare_text(job, answer, trial);
  // Beside a competitor tokens are meant to come slower.
  const bool is_control = job.spec.competes != StateSpec::When::kDuring;
  if (!trial.counts() || !is_control || !answer.timing.tokens_per_second) return;
  std::vector<double>& rates = rates_[trial.side];
  flag("", control_off(*answer.timing.tokens_per_second, rates, options_.rate_tolerance));
  rates.push_back(*answer.timing.tokens_per_second);
}

std::optional<double> TrialRunner::fastest_read(const Job& job) {
  const std::vector<std::string> files = load_files(job.target);
  if (files.empty() || !job.spec.pages) return std::nullopt;
  return world_.machine.fastest_read(files.front());
}

void TrialRunner::compare_text(const Job& job, const Answer& answer, Trial& trial) {
  const std::string& model = models_.try_emplace(trial.side, answer.model).first->second;
  if (model != answer.model) {
    trial.flags.push_back(
        fmt::format("text: the model was \"{}\" and is \"{}\"", model, answer.model));
  }
  const std::string key = fmt::format("{}\n{}\n{}\n{}", trial.side, trial.arm,
                                      job.question.new_tokens, job.question.prompt);
  const std::string& text = texts_.try_emplace(key, answer.text).first->second;
  if (text != answer.text) {
    trial.flags.push_back("text: the same question got another answer in the same state");
  }
}

}  // namespace hearth::lab
