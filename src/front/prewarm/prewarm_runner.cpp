// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/prewarm_runner.h"

#include <utility>

#include "base/log.h"

namespace hearth::front {

PrewarmRunner::PrewarmRunner(World world)
    : world_{std::move(world)}, woken_{world_.loop}, gate_{world_.loop} {}

void PrewarmRunner::start() {
  running_ = true;
  world_.loop.spawn(run());
}

Task<void> PrewarmRunner::stop() {
  running_ = false;
  cancel();
  woken_.notify_all();
  co_await gate_.close();
}

Task<void> PrewarmRunner::run() {
  const std::optional<Gate::Pass> pass = gate_.enter();
  Duration pause = kLook;
  while (pass && running_) {
    const TimePoint next = world_.loop.now() + pause;
    co_await woken_.wait_until(next);
    if (!running_) break;
    const Duration until_next = co_await look();
    pause = until_next;
  }
}

Task<Duration> PrewarmRunner::look() {
  const Duration now = world_.habits.now();
  world_.habits.arrivals().observe(world_.habits.moments().now());
  const std::vector<PrewarmCandidate> all = candidates(now);
  if (!may()) co_return kLook;
  std::optional<PrewarmStep> step =
      world_.habits.prewarm().next(all, world_.free(), world_.read_rate(), now);
  if (!step) co_return kLook;
  const Duration pause = co_await take(std::move(*step));
  co_return pause;
}

std::vector<PrewarmCandidate> PrewarmRunner::candidates(Duration now) {
  std::vector<PrewarmCandidate> all = world_.candidates();
  const Instant moment = world_.habits.moments().now();
  const Duration horizon = world_.habits.prewarm().rules().horizon;
  seconds_per_byte_.clear();
  for (PrewarmCandidate& model : all) {
    world_.habits.prewarm().note_resident(model.model, model.resident, model.size, now);
    model.probability = world_.habits.arrivals().probability(model.model, moment, horizon);
    if (model.size > Bytes{}) {
      seconds_per_byte_[model.model] =
          milliseconds_of(model.cold) / 1000 / static_cast<double>(model.size.count());
    }
    const auto failed = failed_until_.find(model.model);
    if (failed != failed_until_.end() && now < failed->second) model.busy = true;
  }
  std::erase_if(failed_until_, [now](const auto& failed) { return failed.second <= now; });
  return all;
}

Task<Duration> PrewarmRunner::take(PrewarmStep step) {
  const auto progress = std::make_shared<SharedProgress>();
  step_ = std::make_unique<Step>(Step{step.model, progress});
  watch_step();
  world_.on_change();
  const std::string artifact = step.model;
  const Result<Bytes> read = co_await carry_out(std::move(step));
  if (watch_ != 0) world_.loop.cancel(std::exchange(watch_, 0));
  const std::unique_ptr<Step> done = std::move(step_);
  const bool cancelled = progress->cancelled();
  note(*done, read.value_or(progress->done()));
  // Success without a byte would come round again and again.
  const bool failed = !cancelled && (!read || *read == Bytes{});
  if (failed) {
    failed_until_[artifact] = world_.habits.now() + kAfterFailure;
    log::info("prewarm.failed",
              {{"model", artifact}, {"reason", read ? "nothing to read" : read.error().message()}});
  }
  world_.on_change();
  co_return cancelled || failed ? kLook : kBetweenSteps;
}

// `step_` stands for it meanwhile.
Task<Result<Bytes>> PrewarmRunner::carry_out(PrewarmStep step) {
  const std::shared_ptr<SharedProgress> progress = step_->progress;
  for (const PrewarmStep::Release& release : step.releases) {
    const Result<> released = co_await world_.release(release.model, release.bytes);
    if (!released) co_return Failed{released.error()};
    if (progress->cancelled()) co_return fail(ErrorCode::kCancelled, "it is not wanted now");
  }
  const Result<Bytes> read = co_await world_.warm(step.model, step.bytes, progress);
  co_return read;
}

void PrewarmRunner::note(const Step& step, Bytes read) {
  if (read == Bytes{}) return;
  const Duration now = world_.habits.now();
  world_.habits.prewarm().note_read(step.artifact, read, now);
  if (!step.asked_for) return;
  world_.habits.prewarm().note_used(step.artifact, seconds_per_byte(step.artifact), now);
}

void PrewarmRunner::request(const std::string& artifact) {
  const Duration now = world_.habits.now();
  world_.habits.arrivals().note(artifact, world_.habits.moments().now());
  world_.habits.prewarm().note_used(artifact, seconds_per_byte(artifact), now);
  if (step_ && step_->artifact == artifact) step_->asked_for = true;
  cancel();
}

double PrewarmRunner::seconds_per_byte(const std::string& artifact) const {
  const auto found = seconds_per_byte_.find(artifact);
  if (found != seconds_per_byte_.end()) return found->second;
  const double rate = world_.read_rate();
  return rate > 0 ? 1 / rate : 0;
}

void PrewarmRunner::poke() {
  if (step_ && !may()) cancel();
}

void PrewarmRunner::cancel() {
  if (step_) step_->progress->cancel();
}

void PrewarmRunner::watch_step() {
  watch_ = world_.loop.call_at(world_.loop.now() + std::chrono::seconds{1}, [this] {
    watch_ = 0;
    poke();
    if (step_ && !step_->progress->cancelled()) watch_step();
  });
}

}  // namespace hearth::front
