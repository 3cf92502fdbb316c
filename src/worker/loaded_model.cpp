// SPDX-License-Identifier: Apache-2.0
#include "worker/loaded_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "worker/page_reader.h"
#include "worker/self_stats.h"

namespace hearth::worker {
namespace {

using engine::Home;

TimePoint now() { return Clock::real().now(); }

// Shares of a plain load, for a progress that moves evenly enough.
constexpr double kReadShare = 0.6;
constexpr double kLoadShare = 0.35;

Result<Stage> read_pages(const OpenedModel& opened, const LoadFlags& flags, LoadReport& report) {
  const TimePoint start = now();
  const auto done = read_missing_pages(opened.paths, flags, [&](Bytes read, Bytes total) {
    const double part = static_cast<double>(read.count()) / static_cast<double>(total.count());
    report.progress("read", kReadShare * part, read, total);
  });
  if (!done) return Failed{done.error()};
  return Stage{StageKind::kRead, start, now(), {}};
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

std::vector<int> descriptors_of(const std::vector<Fd>& files) {
  std::vector<int> descriptors;
  for (const Fd& file : files) descriptors.push_back(file.get());
  return descriptors;
}

}  // namespace

LoadedModel::LoadedModel(const OpenedModel& opened, Around around, engine::Model model,
                         std::unique_ptr<LoadReport> report)
    : opened_{opened},
      around_{around},
      report_{std::move(report)},
      model_{std::move(model)},
      threads_{most_threads(opened.options)} {}

LoadedModel::~LoadedModel() = default;

Result<std::unique_ptr<LoadedModel>> LoadedModel::load(const OpenedModel& opened, Around around,
                                                       Load load, const LoadFlags& flags) {
  if (!opened.metadata) return plain(opened, around, load, flags);
  const TimePoint begin = now();
  auto report = std::make_unique<LoadReport>(around.replies, load.frame);
  WeightReaders::Plan plan;
  plan.message = load.message;
  plan.files = descriptors_of(opened.files);
  std::string refused;
  auto made = make(opened, load, plan, refused);
  if (!made && made.error().code() == ErrorCode::kUnsupported) {
    log::warn("model.plain_load", {{"model", opened.name}, {"reason", made.error().message()}});
    return plain(opened, around, load, flags);
  }
  if (!made) return Failed{std::move(made).error()};
  std::unique_ptr<LoadedModel> model{
      new LoadedModel{opened, around, std::move(*made), std::move(report)}};
  const Stage stage{StageKind::kLoad, begin, now(), {}};
  auto begun = model->stream(load, std::move(plan), std::move(refused), stage, flags);
  if (!begun) return Failed{std::move(begun).error()};
  return model;
}

// ---- by our own readers ----

Result<engine::Model> LoadedModel::make(const OpenedModel& opened, const Load& load,
                                        WeightReaders::Plan& plan, std::string& refused) {
  engine::WeightSet::Sources sources;
  sources.files = plan.files;
  if (load.message.read == wire::ReadMode::kDirect) {
    sources.keep = engine::WeightSet::Keep::kCopied;
  }
  if (load.stored) {
    auto usable = open_stored(opened, load.message.content, *load.stored);
    if (usable) {
      plan.stored_file = sources.stored_file = load.stored->get();
      sources.stored = std::move(usable->places);
      plan.checksums = std::move(usable->checksums);
    } else {
      refused = usable.error().message();
    }
  }
  auto weights = engine::WeightSet::open(*opened.metadata, opened.placement, std::move(sources));
  if (!weights) return Failed{std::move(weights).error()};
  auto model = engine::Model::stream(*opened.metadata, std::move(*weights));
  if (!model) return model;
  if (auto added = add_adapters(opened, *model); !added) return Failed{std::move(added).error()};
  return model;
}

Result<> LoadedModel::stream(Load& load, WeightReaders::Plan plan, std::string refused, Stage made,
                             const LoadFlags& flags) {
  stored_file_ = std::move(load.stored);
  note_places();
  report_->progress("read", 0.0);
  start_readers(std::move(plan), std::move(refused), load, flags);
  return finish_context(load.prompt, made);
}

void LoadedModel::start_readers(WeightReaders::Plan plan, std::string refused, const Load& load,
                                const LoadFlags& flags) {
  WeightReaders::Calls calls;
  calls.progress = [this](Bytes done, Bytes total) {
    const double part = static_cast<double>(done.count()) /
                        static_cast<double>(std::max<std::uint64_t>(1, total.count()));
    report_->progress("read", part, done, total);
  };
  calls.ready = [this, refused = std::move(refused)] { weights_came(refused); };
  calls.failed = [this, on_failed = load.on_failed](Error error) {
    around_.abort.no_weights = true;
    on_failed(std::move(error));
  };
  readers_ =
      std::make_unique<WeightReaders>(*model_.weights(), std::move(plan), std::move(calls), flags);
  readers_->start();
}

void LoadedModel::weights_came(const std::string& refused) {
  const WeightReaders::Figures figures = readers_->figures();
  const engine::WeightSet& weights = *model_.weights();
  LoadReport::Weights told;
  told.stages.push_back({StageKind::kRead, figures.read_begin, figures.read_end, {}});
  if (figures.repack_begin) {
    told.stages.push_back({StageKind::kCompile, *figures.repack_begin, *figures.repack_end, {}});
  }
  told.missing = figures.missing;
  told.stored_refused = refused.empty() ? figures.stored_refused : refused;
  if (weights.bytes_in(Home::kRepacked) > Bytes{}) {
    told.repack = "built";
  } else if (weights.repacked_bytes() > Bytes{}) {
    told.repack = "stored";
  }
  report_->weights_are_there(std::move(told));
}

Result<> LoadedModel::finish_context(int prompt, Stage load) {
  const TimePoint begin = now();
  auto memory = open_room(prompt);
  if (!memory) return Failed{std::move(memory).error()};
  ready_ = now();
  LoadReport::Context told;
  told.stages = {load, {StageKind::kContext, begin, ready_, {}}};
  told.memory = memory_use(*memory);
  told.cells = room_ ? room_->cells() : 0;
  report_->context_stands(std::move(told));
  return {};
}

// Before readers are at work, who may find a stored weight wrong and give it another place.
void LoadedModel::note_places() {
  const engine::WeightSet& weights = *model_.weights();
  places_.mapped = weights.bytes_in(Home::kMapped) + weights.bytes_in(Home::kStored);
  places_.weights = weights.bytes_in(Home::kRepacked) + weights.bytes_in(Home::kCopied) +
                    weights.bytes_in(Home::kDevice);
  places_.repacked = weights.repacked_bytes();
}

// The engine counts the memory that it set aside for weights, but they are elsewhere.
wire::MemoryUse LoadedModel::memory_use(const engine::MemoryUse& use) const {
  if (model_.weights() == nullptr) {
    return {use.weights, use.mapped, use.repacked, use.context, use.compute, use.device};
  }
  return {places_.weights, places_.mapped, places_.repacked, use.context, use.compute, use.device};
}

// ---- by the engine, as a whole ----

Result<std::unique_ptr<LoadedModel>> LoadedModel::plain(const OpenedModel& opened, Around around,
                                                        const Load& load, const LoadFlags& flags) {
  auto report = std::make_unique<LoadReport>(around.replies, load.frame);
  auto read = read_pages(opened, flags, *report);
  if (!read) return Failed{std::move(read).error()};
  const TimePoint begin = now();
  const auto repack = opened.options.repack ? engine::Repack::kYes : engine::Repack::kNo;
  auto made = engine::Model::load(opened.paths, *opened.vocabulary, repack, [&](float fraction) {
    report->progress("load", kReadShare + kLoadShare * static_cast<double>(fraction));
    return !around.abort.stop && !flags.give_up;
  });
  if (!made) return Failed{std::move(made).error()};
  if (auto added = add_adapters(opened, *made); !added) return Failed{std::move(added).error()};
  LoadReport::Weights told;
  told.stages = {*read};
  report->progress("context", kReadShare + kLoadShare);
  report->weights_are_there(std::move(told));
  std::unique_ptr<LoadedModel> model{
      new LoadedModel{opened, around, std::move(*made), std::move(report)}};
  const Stage stage{StageKind::kLoad, begin, now(), {}};
  if (auto stands = model->finish_context(load.prompt, stage); !stands) {
    return Failed{std::move(stands).error()};
  }
  return model;
}

// ---- both ----

Result<engine::MemoryUse> LoadedModel::open_room(int prompt) {
  if (!opened_.generates) {
    auto made = embedder();
    if (!made) return Failed{std::move(made).error()};
    return (*made)->memory();
  }
  // Exact repeats go one by one, always in the same cells.
  const int sequences = opened_.options.exact ? 1 : std::max(1, opened_.options.parallel);
  room_ = std::make_unique<KvRoom>(model_, threads_, around_.abort,
                                   CellLimits{opened_.context_limit, sequences});
  if (auto opened = room_->open(prompt); !opened) return Failed{std::move(opened).error()};
  const int window = model_.sliding_window();
  const auto when = window > 0 ? PrefixKeeping::When::kAtOnce : PrefixKeeping::When::kWhenIdle;
  keeping_ = std::make_unique<PrefixKeeping>(*room_, around_.replies, when, around_.on_kept);
  room_->set_before_loss([this](int slot, int kept) { keeping_->before_loss(slot, kept); });
  scheduler_ = std::make_unique<Scheduler>(
      Scheduler::Parts{*opened_.vocabulary, *room_, around_.replies, around_.abort, around_.gauges,
                       around_.cpu, threads_, *keeping_, window, around_.wake},
      scheduling_of(opened_.options));
  return room_->context().memory();
}

void LoadedModel::forget_cells() {
  keeping_->forget();
  room_->forget();
}

Gauges::Slots LoadedModel::slots() const {
  Gauges::Slots slots;
  for (int i = 0; room_ && i < room_->slots(); ++i) {
    slots.push_back({room_->used(i), room_->busy(i)});
  }
  return slots;
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

// ---- the stored repack ----

Result<> LoadedModel::store(std::string content, Fd file, RepackStore::OnStored on_stored) {
  if (model_.weights() == nullptr || model_.weights()->repacked_bytes() == Bytes{}) {
    return fail(ErrorCode::kConflict, "nothing of this model is repacked");
  }
  if (storing_) return fail(ErrorCode::kConflict, "it is being stored already");
  storing_ = std::make_unique<RepackStore>(opened_, *model_.weights(), std::move(content),
                                           std::move(file), std::move(on_stored));
  return {};
}

void LoadedModel::adopt(const RepackStore::Stored& stored) {
  storing_.reset();
  if (!stored.message.error.empty()) return;
  // Readers that still map pages look at the places of weights.
  if (!readers_ || !readers_->done()) return;
  auto adopted = model_.weights()->adopt(stored.file.get(), stored.places);
  if (!adopted) log::warn("repack.not_adopted", {{"reason", adopted.error().message()}});
}

}  // namespace hearth::worker
