// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/pages_layer.h"

#include <fmt/format.h>

#include <algorithm>

namespace hearth {
namespace {

// A smaller read says nothing about how fast reads are.
constexpr Bytes kRateRead{1 << 20};
constexpr double kNewShare = 0.3;

// Ends a read when somebody else may not be kept waiting, too.
class GivingWay : public Progress {
 public:
  GivingWay(Progress& progress, const ReadTurn& turn) : progress_{progress}, turn_{turn} {}

  void report(Bytes done, Bytes total) override { progress_.report(done, total); }
  bool cancelled() const override {
    return progress_.cancelled() || (turn_.give_way && turn_.give_way->load());
  }

 private:
  Progress& progress_;
  const ReadTurn& turn_;
};

// Ends a read when so much has been read.
class Limited : public Progress {
 public:
  Limited(Progress& progress, Bytes most) : progress_{progress}, most_{most} {}

  void report(Bytes done, Bytes total) override {
    done_ = done;
    progress_.report(done, std::min(total, most_));
  }
  bool cancelled() const override { return done_ >= most_ || progress_.cancelled(); }

 private:
  Progress& progress_;
  const Bytes most_;
  Bytes done_;
};

Failed unknown_artifact() {
  return fail(ErrorCode::kNotFound, "the model's files are not known or not all there");
}

}  // namespace

void PagesLayer::note_files(const std::string& artifact, const LoadSet& load_set) {
  for (const FileRanges& file : load_set) {
    std::string& before = artifact_at_[file.path];
    if (!before.empty() && before != artifact) {
      known_[artifact].history.note_replaced();
      known_.erase(before);
    }
    before = artifact;
  }
}

Task<Result<PageSnapshot>> PagesLayer::refresh(Subject subject) {
  const std::optional<LoadSet> load_set = world_.load_set(subject.artifact);
  if (!load_set) co_return unknown_artifact();
  auto job = [&files = world_.files, set = *load_set] { return measure_residency(files, set); };
  Result<Residency> measured = co_await world_.pool.run(world_.loop, std::move(job));
  if (!measured) co_return Failed{std::move(measured).error()};
  note_files(subject.artifact, *load_set);
  Known& known = known_[subject.artifact];
  PageSnapshot snapshot;
  snapshot.residency = *measured;
  snapshot.at = world_.clock.now();
  snapshot.cause = known.history.note(*measured);
  known.snapshot = snapshot;
  co_return snapshot;
}

const PageSnapshot* PagesLayer::snapshot(const std::string& artifact) const {
  const auto found = known_.find(artifact);
  return found == known_.end() || !found->second.snapshot ? nullptr : &*found->second.snapshot;
}

void PagesLayer::note_read(Bytes bytes, Duration time) {
  if (bytes < kRateRead || time <= Duration::zero()) return;
  const double seconds = std::chrono::duration<double>(time).count();
  const double rate = static_cast<double>(bytes.count()) / seconds;
  rate_ = rate_ ? *rate_ + kNewShare * (rate - *rate_) : rate;
}

LayerState PagesLayer::observe(const Subject& subject) const {
  LayerState state;
  state.layer = LayerKind::kPages;
  state.level = "absent";
  const PageSnapshot* last = snapshot(subject.artifact);
  if (last == nullptr) {
    state.detail = "not measured yet";
    return state;
  }
  state.total = last->residency.total;
  state.bytes = last->residency.resident;
  state.fraction = last->residency.fraction();
  if (state.bytes > Bytes{}) state.level = "resident";
  const Bytes pinned = world_.pinned ? world_.pinned(subject.artifact) : Bytes{};
  if (pinned > Bytes{}) {
    state.level = "pinned";
    state.fraction =
        std::min(1.0, static_cast<double>(pinned.count()) /
                          static_cast<double>(std::max<std::uint64_t>(1, state.total.count())));
    state.detail = fmt::format("{:.0f} % resident", 100 * last->residency.fraction());
  }
  const Bytes left_out = std::min(known_.at(subject.artifact).left_out, last->residency.missing());
  if (left_out > Bytes{}) {
    state.detail = fmt::format("memory has no room for {} MiB of it now; see hearth ps",
                               (left_out.count() >> 20U) + 1);
  }
  if (last->residency.method == ResidencyMethod::kUnknown) {
    state.detail = "the kernel does not tell which pages of this file are in memory";
  }
  return state;
}

Estimate PagesLayer::cost_to_warm(const Subject& subject) const {
  Estimate estimate;
  const PageSnapshot* last = snapshot(subject.artifact);
  if (last == nullptr) return estimate;
  estimate.bytes = last->residency.missing();
  estimate.known = rate_.has_value() || estimate.bytes == Bytes{};
  if (!rate_) return estimate;
  const std::chrono::duration<double> time{static_cast<double>(estimate.bytes.count()) / *rate_};
  estimate.time = std::chrono::duration_cast<Duration>(time);
  return estimate;
}

Task<Result<ReadReport>> PagesLayer::read(std::string artifact, LoadSet load_set,
                                          Progress& progress) {
  ReadReport all;
  while (!all.complete && !progress.cancelled()) {
    ReadTurn turn;
    if (world_.guide != nullptr) {
      LoadSet asked = load_set;
      turn = co_await world_.guide->turn(std::move(asked), progress);
    }
    ReadWorld world{world_.files, world_.clock, world_.room};
    if (world_.pinned) world.pinned = world_.pinned(artifact);
    auto job = [&progress, &turn, &load_set, world] {
      GivingWay giving_way{progress, turn};
      return read_missing(world, load_set, turn.style, giving_way);
    };
    Result<ReadReport> report = co_await world_.pool.run(world_.loop, std::move(job));
    if (!report) co_return report;
    note_read(report->read, report->time);
    if (world_.guide != nullptr) world_.guide->note(turn, *report);
    all.read += report->read;
    all.time += report->time;
    all.left_out = report->left_out;
    all.complete = report->complete;
  }
  co_return all;
}

Task<Result<LayerState>> PagesLayer::warm(Subject subject, Target target, Progress& progress) {
  if (target.level == "pinned")
    co_return fail(ErrorCode::kUnsupported, "pages are pinned by `hearth pin`, not warmed to it");
  std::optional<LoadSet> load_set = world_.load_set(subject.artifact);
  if (!load_set) co_return unknown_artifact();
  Result<ReadReport> report = co_await read(subject.artifact, std::move(*load_set), progress);
  if (!report) co_return Failed{std::move(report).error()};
  Result<PageSnapshot> now = co_await refresh(subject);
  if (!report->complete) co_return fail(ErrorCode::kCancelled, "reading was cancelled");
  if (!now) co_return Failed{std::move(now).error()};
  known_[subject.artifact].left_out = report->left_out;
  co_return observe(subject);
}

Task<Result<Bytes>> PagesLayer::read_ahead(Subject subject, Ahead ahead) {
  std::optional<LoadSet> load_set = world_.load_set(subject.artifact);
  if (!load_set) co_return unknown_artifact();
  ReadTurn turn;
  if (world_.guide != nullptr) {
    LoadSet asked = *load_set;
    turn = co_await world_.guide->turn(std::move(asked), ahead.progress);
  }
  ReadWorld world{world_.files, world_.clock, world_.room};
  if (world_.pinned) world.pinned = world_.pinned(subject.artifact);
  auto job = [&ahead, &turn, &load_set, world] {
    Limited limited{ahead.progress, ahead.most};
    GivingWay giving_way{limited, turn};
    return read_missing(world, *load_set, turn.style, giving_way);
  };
  // How fast it goes says nothing of reads that somebody waits for.
  Result<ReadReport> report = co_await ahead.pool.run(world_.loop, std::move(job));
  if (!report) co_return Failed{std::move(report).error()};
  const Bytes read = report->read;
  (void)co_await refresh(std::move(subject));
  co_return read;
}

Task<Result<Bytes>> PagesLayer::cool(Subject subject, Target) {
  std::optional<LoadSet> load_set = world_.load_set(subject.artifact);
  if (!load_set) co_return unknown_artifact();
  if (world_.mapped(subject.artifact)) {
    co_return fail(ErrorCode::kConflict, "a worker has the model loaded; unload it first");
  }
  auto job = [&files = world_.files, set = std::move(*load_set)] { return drop_pages(files, set); };
  Result<Bytes> gone = co_await world_.pool.run(world_.loop, std::move(job));
  if (!gone) co_return gone;
  if (*gone > Bytes{}) known_[subject.artifact].history.note_dropped();
  Result<PageSnapshot> now = co_await refresh(subject);
  if (!now) co_return Failed{std::move(now).error()};
  co_return gone;
}

}  // namespace hearth
