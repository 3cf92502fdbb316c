// SPDX-License-Identifier: Apache-2.0
#include "front/pulls/pull.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/size_text.h"
#include "front/pulls/plan_finder.h"
#include "front/signed_count.h"
#include "layers/artifact/model_name.h"

namespace hearth::front {
namespace {

// How often it begins again because a file that was in the store has gone before the end.
constexpr int kRounds = 3;

Failed stopped_error() { return fail(ErrorCode::kCancelled, "the pull was stopped"); }

struct Opened {
  BlobStore::OpenPartial partial;
  FileInfo info;
};

double ms_in(const std::vector<Stage>& stages, StageKind kind) {
  double ms = 0;
  for (const Stage& stage : stages) {
    if (stage.kind == kind) ms += milliseconds_of(stage.length());
  }
  return ms;
}

// Room that is taken for a file already, or written, is not needed once more.
Result<Bytes> room_for(const BlobStore& store, const std::vector<Pull::Unwritten>& files) {
  const Result<std::vector<BlobStore::Partial>> partials = store.partials();
  if (!partials) return Failed{partials.error()};
  Bytes room;
  for (const Pull::Unwritten& file : files) {
    const auto partial = std::ranges::find(*partials, file.key, &BlobStore::Partial::key);
    const Bytes taken = partial == partials->end() ? Bytes{} : partial->on_disk;
    room += file.size - std::max(file.kept, taken);
  }
  return room;
}

std::set<std::string> keys_of(const std::vector<std::string>& names) {
  std::set<std::string> keys;
  for (const std::string& name : names) {
    const Result<ModelName> parsed = ModelName::parse(name);
    if (parsed) keys.insert(parsed->key());
  }
  return keys;
}

}  // namespace

// What is on the disk of one part.
struct Pull::Look {
  std::optional<BlobStore::Blob> in_store;
  Bytes kept;
};

Result<std::vector<Pull::Look>> Pull::look(
    const BlobStore& store, const std::vector<std::pair<std::string, std::string>>& wanted) {
  const Result<std::vector<BlobStore::Partial>> partials = store.partials();
  if (!partials) return Failed{partials.error()};
  std::vector<Look> looks;
  for (const auto& [sha256, key] : wanted) {
    Look& look = looks.emplace_back();
    if (Result<BlobStore::Blob> blob = store.blob(sha256)) look.in_store = std::move(*blob);
    const auto partial = std::ranges::find(*partials, key, &BlobStore::Partial::key);
    if (partial == partials->end()) continue;
    look.kept = partial->arrived;
  }
  return looks;
}

Pull::Pull(World world, ModelSource source, std::optional<FetchPlan> again, Owner& owner)
    : world_{std::move(world)},
      source_{std::move(source)},
      again_{std::move(again)},
      owner_{owner} {}

Result<> Pull::still_wanted() const {
  if (stopped_) return stopped_error();
  return {};
}

// ---- one run ----

Task<Result<TransferDone>> Pull::run() {
  stopped_ = false;
  running_ = true;
  stages_.clear();
  rate_.clear();
  received_before_ = received_now_ = Bytes{};
  progress_ = {};
  fetched_ = false;
  Fetcher fetcher{world_.fetcher, world_.rules().fetch};
  fetcher_ = &fetcher;
  Result<TransferDone> done = co_await work(fetcher);
  fetcher_ = nullptr;
  co_await fetcher.stop();
  if (!stages_.empty()) stages_.back().end = world_.loop.now();
  running_ = false;
  holding_ = false;
  for (Part& part : parts_) part.open.reset();
  if (done) forget_what_is_here();
  if (!done && stopped_) co_return stopped_error();
  co_return done;
}

// It is in the store now, where others give it back without asking this one.
void Pull::forget_what_is_here() {
  for (Part& part : parts_) {
    part.in_store = false;
    part.complete.reset();
    part.kept = Bytes{};
  }
}

void Pull::stop() {
  stopped_ = true;
  if (fetcher_ != nullptr) fetcher_->end();
}

Task<Result<TransferDone>> Pull::work(Fetcher& fetcher) {
  PlanFinder finder{PlanFinder::World{world_.loop, world_.disk, world_.token}, source_, fetcher};
  enter(StageKind::kArtifactMetadata, "metadata");
  tell();
  const bool exact = again_.has_value();
  Result<> step = co_await find_plan(finder);
  if (step) step = co_await bring(fetcher, finder);
  if (!step && exact && !stopped_ && step.error().code() == ErrorCode::kNotFound) {
    log::info("pull.not_there_any_more", {{"source", source_.text}});
    again_.reset();
    enter(StageKind::kArtifactMetadata, "metadata");
    step = co_await find_plan(finder);
    if (step) step = co_await bring(fetcher, finder);
  }
  if (!step) co_return Failed{std::move(step).error()};
  co_return summary();
}

Task<Result<>> Pull::find_plan(PlanFinder& finder) {
  if (again_) {
    use(*again_);
    // Credentials are wanted only if something is to be fetched.
    Result<> looked = co_await look_around();
    const bool all_here = looked && missing() == Bytes{};
    if (!looked || all_here) co_return looked;
    co_return co_await finder.prepare();
  }
  Result<FetchPlan> plan = co_await finder.find();
  if (!plan) co_return Failed{std::move(plan).error()};
  use(std::move(*plan));
  co_return co_await recognise(finder);
}

// Where nobody promises what a file holds: it is what it was, if its server says so.
Task<Result<>> Pull::recognise(PlanFinder& finder) {
  for (std::size_t i = 0; !stopped_ && i < parts_.size(); ++i) {
    if (!parts_[i].sha256.empty()) continue;
    const std::optional<hearth::Origin::File> known = world_.known(parts_[i].planned.url);
    if (!known) continue;
    const bool is_unchanged = co_await finder.is_unchanged(*known);
    if (!is_unchanged) continue;
    parts_[i].sha256 = known->sha256;
    parts_[i].etag = known->etag;
    parts_[i].size = known->size;
  }
  co_return still_wanted();
}

// What is known of the same files from an earlier run still holds.
void Pull::use(FetchPlan plan) {
  std::vector<Part> before = std::exchange(parts_, {});
  for (const std::vector<PlannedFile>* files : {&plan.files, &plan.adapters}) {
    for (const PlannedFile& planned : *files) {
      Part part;
      part.planned = planned;
      part.key = BlobStore::key_of(about(part));
      part.sha256 = planned.sha256;
      part.size = planned.size;
      const auto known =
          std::ranges::find(before, part.key, [](const Part& one) { return one.key; });
      if (known != before.end() && known->complete) part = std::move(*known);
      parts_.push_back(std::move(part));
    }
  }
  plan_ = std::move(plan);
  progress_.note = plan_note();
}

Task<Result<>> Pull::bring(Fetcher& fetcher, PlanFinder& finder) {
  for (int round = 1;; ++round) {
    holding_ = false;
    co_await owner_.turn(*this);
    holding_ = true;
    Result<> step = co_await look_around();
    if (step) step = co_await check_space();
    for (std::size_t i = 0; step && i < parts_.size(); ++i) {
      step = co_await fetch(fetcher, finder, i);
    }
    if (!step) co_return step;
    step = co_await install();
    const bool gone = !step && step.error().code() == ErrorCode::kNotFound;
    if (!gone || round == kRounds) co_return step;
  }
}

PartialAbout Pull::about(const Part& part) const {
  return {source_.text, part.planned.name, part.planned.url, part.planned.sha256,
          part.planned.size};
}

// Which files are here, and how much of the others.
Task<Result<>> Pull::look_around() {
  std::vector<std::pair<std::string, std::string>> wanted;
  for (const Part& part : parts_) wanted.emplace_back(part.sha256, part.key);
  auto job = [&store = world_.store, wanted = std::move(wanted)] { return look(store, wanted); };
  Result<std::vector<Look>> looks = co_await world_.disk.run(world_.loop, std::move(job));
  if (!looks) co_return Failed{std::move(looks).error()};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const std::optional<BlobStore::Blob>& stored = (*looks)[i].in_store;
    part.in_store = stored && (part.size == Bytes{} || part.size == stored->size) &&
                    !(world_.is_rotten && world_.is_rotten(*stored));
    if (part.in_store) part.size = stored->size;
    part.kept = (*looks)[i].kept;
    // Somebody may have taken it away.
    if (part.kept < part.size) part.complete.reset();
  }
  co_return still_wanted();
}

Task<Result<>> Pull::check_space() {
  const std::vector<Unwritten> own = unwritten();
  if (own.empty()) co_return still_wanted();
  const std::vector<Unwritten> others = owner_.promised_to_others(*this);
  auto job = [&store = world_.store, own, others]() -> Result<> {
    const Result<Bytes> mine = room_for(store, own);
    if (!mine) return Failed{mine.error()};
    if (*mine == Bytes{}) return {};
    const Result<Bytes> theirs = room_for(store, others);
    if (!theirs) return Failed{theirs.error()};
    return store.require(*mine + *theirs);
  };
  Result<> enough = co_await world_.disk.run(world_.loop, std::move(job));
  if (!enough) co_return enough;
  co_return still_wanted();
}

// With what it had: if it was found to be right by an earlier run, and nobody wrote to it since, it
// still is.
Task<Result<>> Pull::open(std::size_t index) {
  auto job = [&world = world_, which = about(parts_[index])]() -> Result<Opened> {
    Result<BlobStore::OpenPartial> partial = world.store.open_partial(which);
    if (!partial) return Failed{std::move(partial).error()};
    Result<FileInfo> info = world.files.info(partial->data);
    if (!info) return Failed{std::move(info).error()};
    return Opened{std::move(*partial), *info};
  };
  Result<Opened> opened = co_await world_.disk.run(world_.loop, std::move(job));
  if (!opened) co_return Failed{std::move(opened).error()};
  Part& part = parts_[index];
  if (part.complete != opened->info) part.complete.reset();
  part.open = std::move(opened->partial);
  co_return still_wanted();
}

Task<Result<>> Pull::fetch(Fetcher& fetcher, PlanFinder& finder, std::size_t index) {
  if (stopped_ || parts_[index].in_store) co_return still_wanted();
  Result<> opened = co_await open(index);
  if (!opened || parts_[index].complete) co_return opened;
  const PlannedFile planned = parts_[index].planned;
  wire::FetchFile question;
  question.url = planned.url;
  question.headers = finder.headers_for(planned.url);
  question.sha256 = planned.sha256;
  question.size = planned.size;
  const BlobStore::OpenPartial& partial = *parts_[index].open;
  Fetcher::Target target{Fetcher::again(partial.data), Fetcher::again(partial.journal)};
  Fetcher::OnFetching on_fetching = [this, index](const wire::Fetching& fetching) {
    this->on_fetching(index, fetching);
  };
  fetched_ = true;
  progress_.file = planned.name;
  progress_.digest = planned.sha256.empty() ? "" : "sha256:" + planned.sha256;
  progress_.done = signed_count(parts_[index].kept);
  progress_.total = signed_count(planned.size);
  enter(StageKind::kArtifactDownload, "download");
  tell();
  Result<wire::Fetched> fetched =
      co_await fetcher.file(std::move(question), std::move(target), std::move(on_fetching));
  if (!fetched) {
    Error error = co_await why_not(&finder, index, std::move(fetched).error());
    co_return Failed{std::move(error).during(planned.name)};
  }
  received_before_ += std::max(received_now_, fetched->received);
  received_now_ = Bytes{};
  count_received();
  co_return co_await note_complete(index, std::move(*fetched));
}

// A file may be closed to us though its index is open.
Task<Error> Pull::why_not(PlanFinder* finder, std::size_t index, Error error) {
  if (stopped_ || error.code() != ErrorCode::kUnavailable) co_return error;
  std::optional<Error> refusal = co_await finder->refusal(parts_[index].planned.url);
  if (refusal && !stopped_) co_return std::move(*refusal);
  co_return error;
}

Task<Result<>> Pull::note_complete(std::size_t index, wire::Fetched fetched) {
  auto job = [&files = world_.files, &data = parts_[index].open->data] { return files.info(data); };
  Result<FileInfo> info = co_await world_.disk.run(world_.loop, std::move(job));
  if (!info) co_return Failed{std::move(info).error()};
  Part& part = parts_[index];
  part.sha256 = std::move(fetched.sha256);
  part.etag = std::move(fetched.etag);
  part.size = part.kept = fetched.size;
  part.complete = *info;
  progress_.done = progress_.total = signed_count(part.size);
  tell();
  co_return still_wanted();
}

void Pull::on_fetching(std::size_t index, const wire::Fetching& fetching) {
  Part& part = parts_[index];
  if (part.size == Bytes{}) part.size = fetching.total;
  const bool verifying = fetching.stage == "verify";
  // One that died has counted from nothing again.
  if (fetching.received < received_now_) received_before_ += received_now_;
  received_now_ = fetching.received;
  if (fetching.stage != progress_.stage) {
    enter(verifying ? StageKind::kArtifactVerify : StageKind::kArtifactDownload, fetching.stage);
  }
  if (!verifying) {
    part.kept = fetching.done;
    count_received();
  }
  rate_.note(world_.loop.now(), received());
  progress_.done = signed_count(fetching.done);
  progress_.total = signed_count(part.size);
  progress_.note = fetching.note.empty() ? plan_note() : fetching.note;
  tell();
}

Task<Result<>> Pull::install() {
  enter(StageKind::kArtifactVerify, "install");
  PulledModel model;
  model.plan = *plan_;
  model.names = owner_.names(*this);
  if (model.names.empty()) co_return stopped_error();
  for (Part& part : parts_) {
    model.files.push_back(
        {part.planned, part.sha256, part.etag, part.size, std::exchange(part.open, std::nullopt)});
  }
  tell();
  const std::vector<std::string> names = model.names;
  Result<> installed = co_await world_.install(std::move(model));
  if (installed) installed_ = keys_of(names);
  co_return installed;
}

TransferDone Pull::summary() const {
  const std::vector<Stage> all = stages();
  TransferDone done;
  done.bytes = signed_count(total());
  done.received = signed_count(received());
  done.metadata_ms = ms_in(all, StageKind::kArtifactMetadata);
  done.download_ms = ms_in(all, StageKind::kArtifactDownload);
  done.verify_ms = ms_in(all, StageKind::kArtifactVerify);
  done.was_there = !fetched_;
  return done;
}

}  // namespace hearth::front
