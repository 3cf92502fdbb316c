// SPDX-License-Identifier: Apache-2.0
#include "front/verify/verifier.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.h"
#include "front/verify/verdict_text.h"

namespace hearth::front {
namespace {

using Checked = ModelCheck::Checked;

constexpr std::int64_t kDayUs = 86'400'000'000;
constexpr std::chrono::milliseconds kLook{500};
// However a read that nobody asked for ended, it is not done again at once.
constexpr std::chrono::minutes kApart{10};
// A check of all that was left for longer begins anew.
constexpr std::int64_t kStaleUs = 7 * kDayUs;

Checked known_to_be_good(const NamedModel& model) {
  Checked checked;
  checked.verified.model = model.name;
  checked.verified.verdict = "good";
  checked.verified.sha256 = model.artifact.content().value_or("");
  checked.verified.bytes = static_cast<std::int64_t>(model.artifact.size().count());
  return checked;
}

bool is_found_only(const Artifact& artifact) {
  const bool ours = artifact.store == Store::kUser || artifact.store == Store::kHearth;
  return !ours && artifact.last_used_at_us == 0;
}

}  // namespace

// The right to read, until it is dropped.
class Verifier::Turn {
 public:
  explicit Turn(Verifier* of) : of_{of} {}
  Turn(Turn&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (of_ == nullptr) return;
    of_->reading_ = false;
    of_->changed_.notify_all();
  }

 private:
  Verifier* of_;
};

// A read that nobody waits for.
class Verifier::Unasked : public CheckControl {
 public:
  explicit Unasked(Verifier& of) : of_{of} {}

  Task<bool> may_go_on() override {
    while (!of_.stopping_ && of_.asked_ == 0 && !of_.is_quiet()) {
      (void)co_await of_.changed_.wait_until(of_.now() + kLook);
    }
    co_return !of_.stopping_ && of_.asked_ == 0;
  }
  void progressed(Bytes) override {}
  void reading(const Artifact&, std::size_t) override {}
  bool is_heard() const override { return false; }

 private:
  Verifier& of_;
};

Verifier::Verifier(World world)
    : world_{std::move(world)},
      check_{world_.check},
      changed_{world_.check.loop},
      tasks_{world_.check.loop} {}

Verifier::~Verifier() = default;

void Verifier::start() {
  busy_at_ = now();
  world_.check.loop.spawn(work_unasked());
}

Task<void> Verifier::stop() {
  stopping_ = true;
  changed_.notify_all();
  co_await tasks_.close();
}

TimePoint Verifier::now() const { return world_.check.loop.now(); }

Task<Verifier::Turn> Verifier::take_turn() {
  while (reading_) co_await changed_.wait();
  reading_ = true;
  co_return Turn{this};
}

void Verifier::note(const Checked& checked) {
  const Verified& verified = checked.verified;
  world_.metrics.content_hashed(checked.read);
  if (verified.verdict == "rotten") {
    world_.metrics.rotten_found();
    log::warn("model.rotten", {{"model", verified.model}, {"bad_bytes", verified.bad_bytes}});
  } else if (verified.verdict != "good") {
    log::warn("model.verified", {{"model", verified.model}, {"verdict", verified.verdict}});
  } else if (checked.read > Bytes{}) {
    log::info("model.verified", {{"model", verified.model}, {"sha256", verified.sha256}});
  }
}

// ---- when somebody asks ----

Result<std::vector<std::string>> Verifier::models_of(const VerifyRequest& request) const {
  std::vector<std::string> keys;
  if (request.model.empty()) {
    for (const NamedModel& model : world_.check.models()) keys.push_back(model.key);
    return keys;
  }
  Result<ModelName> name = ModelName::parse(request.model);
  if (!name) return Failed{std::move(name).error().at("model")};
  if (check_.find(name->key()) == nullptr) {
    return Failed{
        Error{ErrorCode::kNotFound, "model \"" + name->canonical() + "\" not found"}.at("model")};
  }
  keys.push_back(name->key());
  return keys;
}

std::unique_ptr<Transfer> Verifier::verify(VerifyRequest request) {
  EventLoop& loop = world_.check.loop;
  Result<std::vector<std::string>> keys = models_of(request);
  if (keys && stopping_) keys = fail(ErrorCode::kUnavailable, "the server is stopping");
  if (!keys) {
    auto refused = std::make_unique<VerifyWaiter>(loop, nullptr);
    refused->finish(std::move(keys).error());
    return refused;
  }
  const RunKey key = key_of(request);
  std::shared_ptr<VerifyRun>& run = runs_[key];
  const bool fresh = run == nullptr;
  if (fresh) run = std::make_shared<VerifyRun>(loop, std::move(request), stopping_);
  auto waiter = std::make_unique<VerifyWaiter>(
      loop, [this, key, of = run](VerifyWaiter& leaving, VerifyWaiter::Left how) {
        of->remove(leaving, how);
        const auto found = runs_.find(key);
        // What is asked for now begins a run of its own, which goes on where this one stops.
        if (of->is_abandoned() && found != runs_.end() && found->second == of) runs_.erase(found);
      });
  run->add(*waiter);
  if (fresh) loop.spawn(work(run, std::move(*keys)));
  return waiter;
}

Task<void> Verifier::work(std::shared_ptr<VerifyRun> run, std::vector<std::string> keys) {
  const auto pass = tasks_.enter();
  asked_ += 1;
  changed_.notify_all();
  Result<> done = fail(ErrorCode::kUnavailable, "the server is stopping");
  if (pass) done = co_await work_through(run, std::move(keys));
  asked_ -= 1;
  changed_.notify_all();
  const auto found = runs_.find(key_of(run->request()));
  if (found != runs_.end() && found->second == run) runs_.erase(found);
  if (done) {
    run->finish();
  } else {
    run->finish(done.error());
  }
}

Task<Result<>> Verifier::work_through(std::shared_ptr<VerifyRun> run,
                                      std::vector<std::string> keys) {
  const bool all = run->request().model.empty();
  std::int64_t since_us = std::numeric_limits<std::int64_t>::max();
  if (all) since_us = co_await begin_all();
  Bytes total;
  for (const std::string& key : keys) {
    if (const NamedModel* model = check_.find(key)) total += model->artifact.size();
  }
  run->set_total(total);
  std::map<std::string, Verified> by_artifact;
  for (const std::string& key : keys) {
    const NamedModel* model = check_.find(key);
    if (model == nullptr) continue;
    const Bytes size = model->artifact.size();
    run->set_model(model->name);
    if (const auto same = by_artifact.find(model->artifact.id); same != by_artifact.end()) {
      Verified again = same->second;
      again.model = model->name;
      run->tell(std::move(again), size);
      continue;
    }
    Result<Checked> checked = co_await check_one(run, key, since_us);
    if (!checked && all && checked.error().code() == ErrorCode::kNotFound) continue;
    if (!checked) co_return Failed{std::move(checked).error()};
    if (const NamedModel* now = check_.find(key)) {
      by_artifact.emplace(now->artifact.id, checked->verified);
    }
    run->tell(std::move(checked->verified), size);
  }
  if (all) co_await end_all();
  co_return Result<>{};
}

Task<std::int64_t> Verifier::begin_all() {
  const std::int64_t now_us = world_.clock.wall_us();
  auto job = [&notes = world_.check.notes, now_us] {
    const std::int64_t began_us = notes.run_began_us();
    if (began_us > now_us - kStaleUs && began_us <= now_us) return began_us;
    notes.keep_run(now_us);
    return now_us;
  };
  co_return co_await world_.check.pool.run(world_.check.loop, std::move(job));
}

Task<void> Verifier::end_all() {
  auto job = [&notes = world_.check.notes] { notes.end_run(); };
  co_await world_.check.pool.run(world_.check.loop, std::move(job));
}

Task<Result<Checked>> Verifier::check_one(std::shared_ptr<VerifyRun> run, std::string key,
                                          std::int64_t since_us) {
  const Turn turn = co_await take_turn();
  const NamedModel* model = check_.find(key);
  if (model == nullptr) co_return fail(ErrorCode::kNotFound, "the model was removed just now");
  std::string id = model->artifact.id;
  (void)co_await world_.check.recheck(std::move(id));
  model = check_.find(key);
  const bool go_on = co_await run->may_go_on();
  if (!go_on) co_return fail(ErrorCode::kCancelled, "the verify was put off");
  if (model != nullptr && model->artifact.status == ArtifactStatus::kOk &&
      model->artifact.content() && model->artifact.verified_at_us >= since_us) {
    co_return known_to_be_good(*model);
  }
  Result<Checked> checked = co_await check_.run(key, *run);
  if (!checked) co_return checked;
  note(*checked);
  const bool rotten = checked->verified.verdict == "rotten";
  if (rotten && run->request().repair) co_await repair_one(run, key, *checked);
  co_return checked;
}

// What cannot be repaired stays rotten, with the reason.
Task<void> Verifier::repair_one(std::shared_ptr<VerifyRun> run, std::string key, Checked& checked) {
  const NamedModel* found = check_.find(key);
  if (found == nullptr || !world_.repair || checked.rotten.empty()) co_return;
  if (!is_repairable(found->artifact)) co_return;
  const NamedModel model = *found;
  const Result<Bytes> received = co_await world_.repair(model, checked, run);
  if (!received) {
    checked.verified.text = "it could not be repaired: " + received.error().message();
    co_return;
  }
  run->received(*received);
  const NamedModel* now = check_.find(key);
  checked.verified.verdict = "repaired";
  checked.verified.text.clear();
  checked.verified.sha256 = now == nullptr ? "" : now->artifact.content().value_or("");
  log::info("model.repaired", {{"model", model.name}, {"received", received->count()}});
}

// ---- unasked ----

bool Verifier::is_quiet() {
  if (world_.busy()) busy_at_ = now();
  return now() >= busy_at_ + kQuiet;
}

bool Verifier::is_due(const NamedModel& model) const {
  const Artifact& artifact = model.artifact;
  const bool readable =
      artifact.status == ArtifactStatus::kOk || artifact.status == ArtifactStatus::kChanged;
  if (!readable || is_found_only(artifact)) return false;
  const auto later = not_before_.find(model.key);
  if (later != not_before_.end() && now() < later->second) return false;
  if (!artifact.content()) return true;
  const std::int64_t every_us = world_.verify_days() * kDayUs;
  return every_us > 0 && artifact.verified_at_us + every_us <= world_.clock.wall_us();
}

// What is not known yet goes first, then what was read longest ago.
const NamedModel* Verifier::next_due() const {
  const NamedModel* best = nullptr;
  const auto order = [](const NamedModel& model) {
    return std::pair{model.artifact.content() ? model.artifact.verified_at_us : std::int64_t{-1},
                     -model.artifact.last_used_at_us};
  };
  for (const NamedModel& model : world_.check.models()) {
    if (is_due(model) && (best == nullptr || order(model) < order(*best))) best = &model;
  }
  return best;
}

Task<void> Verifier::work_unasked() {
  const auto pass = tasks_.enter();
  while (!stopping_) {
    const bool free = is_quiet() && asked_ == 0 && !reading_;
    const NamedModel* due = free ? next_due() : nullptr;
    if (due != nullptr) {
      co_await check_unasked(due->key);
    } else {
      (void)co_await changed_.wait_until(now() + kLook);
    }
  }
}

Task<void> Verifier::check_unasked(std::string key) {
  const Turn turn = co_await take_turn();
  Unasked control{*this};
  const Result<Checked> checked = co_await check_.run(key, control);
  if (!checked && checked.error().code() == ErrorCode::kCancelled) co_return;
  not_before_[key] = now() + kApart;
  if (checked) {
    note(*checked);
  } else if (checked.error().code() != ErrorCode::kNotFound) {
    log::warn("model.not_hashed", {{"model", key}, {"why", checked.error().message()}});
  }
}

}  // namespace hearth::front
