// SPDX-License-Identifier: Apache-2.0
#include "worker/loaded_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "worker/page_reader.h"
#include "worker/self_stats.h"

namespace hearth::worker {
namespace {

TimePoint now() { return Clock::real().now(); }

// Shares of the whole load, for a progress that moves evenly enough.
constexpr double kReadShare = 0.6;
constexpr double kLoadShare = 0.35;
constexpr Duration kBetweenReports = std::chrono::milliseconds{50};

// Tells the front how far a load is, not more often than it wants to know.
class Progress {
 public:
  Progress(Replies& replies, std::uint64_t frame) : replies_{replies}, frame_{frame} {}

  void report(const char* stage, double fraction, Bytes done = {}, Bytes total = {}) {
    const TimePoint at = now();
    if (stage == stage_ && at - reported_ < kBetweenReports) return;
    stage_ = stage;
    reported_ = at;
    wire::ProgressMessage message;
    message.stage = stage;
    message.fraction = fraction;
    message.done = done;
    message.total = total;
    replies_.send(wire::FrameType::kProgress, frame_, message);
  }

 private:
  Replies& replies_;
  std::uint64_t frame_;
  const char* stage_ = nullptr;
  TimePoint reported_;
};

wire::MemoryUse to_wire(const engine::MemoryUse& use) {
  return {use.weights, use.mapped, use.repacked, use.context, use.compute, use.device};
}

Result<Stage> read_pages(const OpenedModel& opened, const std::atomic<bool>& stop,
                         Progress& progress) {
  const TimePoint start = now();
  const Reads before = reads_so_far();
  const auto done = read_missing_pages(opened.paths, stop, [&](Bytes read, Bytes total) {
    const double part = static_cast<double>(read.count()) / static_cast<double>(total.count());
    progress.report("read", kReadShare * part, read, total);
  });
  if (!done) return Failed{done.error()};
  return Stage{StageKind::kRead, start, now(), reads_so_far().from_device - before.from_device};
}

Result<> add_adapters(const OpenedModel& opened, engine::Model& model) {
  for (std::size_t i = 0; i < opened.adapters.size(); ++i) {
    Result<> added = model.add_adapter(opened.adapters[i]);
    if (added) continue;
    return Failed{std::move(added).error().during(
        fmt::format("adapter {} of {}", i + 1, opened.adapters.size()))};
  }
  return {};
}

}  // namespace

LoadedModel::LoadedModel(const OpenedModel& opened, Around around, engine::Model model)
    : opened_{opened},
      around_{around},
      model_{std::move(model)},
      threads_{opened.options.threads} {}

Result<LoadedModel::Outcome> LoadedModel::load(const OpenedModel& opened, Around around,
                                               std::uint64_t frame, int prompt) {
  Outcome outcome;
  Progress progress{around.replies, frame};
  const Reads before = reads_so_far();
  auto read = read_pages(opened, around.abort.stop, progress);
  if (!read) return Failed{std::move(read).error()};
  outcome.message.stages.push_back(*read);

  const TimePoint load_start = now();
  const auto repack = opened.options.repack ? engine::Repack::kYes : engine::Repack::kNo;
  auto model = engine::Model::load(opened.paths, *opened.vocabulary, repack, [&](float fraction) {
    progress.report("load", kReadShare + kLoadShare * static_cast<double>(fraction));
    return !around.abort.stop;
  });
  if (!model) return Failed{std::move(model).error()};
  if (auto added = add_adapters(opened, *model); !added) return Failed{std::move(added).error()};
  const TimePoint loaded = now();
  outcome.message.stages.push_back({StageKind::kLoad, load_start, loaded, {}});

  progress.report("context", kReadShare + kLoadShare);
  outcome.model.reset(new LoadedModel{opened, around, std::move(*model)});
  auto memory = outcome.model->open_room(prompt);
  if (!memory) return Failed{std::move(memory).error()};
  outcome.message.stages.push_back({StageKind::kContext, loaded, now(), {}});
  const Reads after = reads_so_far();
  outcome.message.memory = to_wire(*memory);
  outcome.message.bytes_read = after.from_device - before.from_device;
  outcome.message.major_faults = after.major_faults - before.major_faults;
  if (outcome.model->room_) outcome.message.context = outcome.model->room_->cells();
  return outcome;
}

Result<engine::MemoryUse> LoadedModel::open_room(int prompt) {
  if (!opened_.generates) {
    auto made = embedder();
    if (!made) return Failed{std::move(made).error()};
    return (*made)->memory();
  }
  const CellLimits limits{opened_.context_limit, std::max(1, opened_.options.parallel)};
  room_ = std::make_unique<KvRoom>(model_, threads_, around_.abort, limits);
  if (auto opened = room_->open(prompt); !opened) return Failed{std::move(opened).error()};
  scheduler_ = std::make_unique<Scheduler>(
      Scheduler::Parts{*opened_.vocabulary, *room_, around_.replies, around_.abort, around_.gauges,
                       around_.cpu, threads_},
      scheduling_of(opened_.options));
  return room_->context().memory();
}

Result<engine::Embedder*> LoadedModel::embedder() {
  if (!embedder_) {
    auto made = engine::Embedder::create(model_, *opened_.vocabulary,
                                         engine::embedding_limit(opened_.context_limit), threads_,
                                         around_.abort);
    if (!made) return Failed{std::move(made).error()};
    embedder_ = std::move(*made);
  }
  around_.cpu.before_step(threads_, StepKind::kPrompt);
  return embedder_.get();
}

}  // namespace hearth::worker
