// SPDX-License-Identifier: Apache-2.0
#include "front/keeper.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "wire/keeper_messages.h"
#include "wire/messages.h"

namespace hearth::front {
namespace {

using wire::Frame;
using wire::FrameType;

struct Opened {
  std::vector<Fd> files;
  wire::KeepMessage message;
};

Result<Opened> open_set(const Files& files, const LoadSet& load_set) {
  Opened opened;
  for (const FileRanges& part : load_set) {
    Result<Fd> file = files.open_read(part.path);
    if (!file) return Failed{std::move(file).error()};
    const int index = static_cast<int>(opened.files.size());
    opened.files.push_back(std::move(*file));
    for (const Range& range : part.ranges) {
      opened.message.pieces.push_back({index, range.offset, range.size});
    }
  }
  return opened;
}

Bytes half_of_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return Bytes{static_cast<std::uint64_t>(std::max(pages, 0L)) / 2 *
               static_cast<std::uint64_t>(std::max(size, 0L))};
}

Failed keeper_gone() { return fail(ErrorCode::kUnavailable, "the keeper of pinned pages died"); }

}  // namespace

LoadSet first_of(const LoadSet& load_set, Bytes bytes) {
  if (bytes == Bytes{}) return load_set;
  LoadSet first;
  for (const FileRanges& file : load_set) {
    FileRanges part{file.path, {}};
    for (const Range& range : file.ranges) {
      const Bytes size = std::min(range.size, bytes);
      if (size > Bytes{}) part.ranges.push_back(Range{range.offset, size});
      bytes = bytes - size;
    }
    if (!part.ranges.empty()) first.push_back(std::move(part));
  }
  return first;
}

Keeper::Keeper(World world, OnLost on_lost)
    : world_{std::move(world)},
      most_{world_.most > Bytes{} ? world_.most : half_of_memory()},
      on_lost_{std::move(on_lost)},
      changed_{world_.loop},
      tasks_{world_.loop} {}

Keeper::~Keeper() = default;

// ---- the process ----

Task<Result<>> Keeper::ensure_process() {
  while (starting_) co_await changed_.wait();
  if (stopping_) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  if (process_) co_return Result<>{};
  if (world_.program.empty()) {
    co_return fail(ErrorCode::kUnsupported, "this server has no keeper for pinned pages");
  }
  starting_ = true;
  const ProcessSpec spec{{world_.program}, {"LC_ALL=C.UTF-8"}};
  auto job = [this, spec] { return world_.processes.spawn(spec); };
  Result<std::unique_ptr<Process>> spawned = co_await world_.pool.run(world_.loop, std::move(job));
  starting_ = false;
  changed_.notify_all();
  if (!spawned) co_return Failed{std::move(spawned).error()};
  process_ = std::make_unique<Worker>(world_.loop, world_.pool, std::move(*spawned),
                                      [this](Frame frame) { on_frame(frame); });
  log::info("keeper.started", {{"pid", process_->pid()}});
  if (stopping_) process_->close();
  world_.loop.spawn(supervise(process_.get()));
  co_return Result<>{};
}

Task<void> Keeper::supervise(Worker* process) {
  const auto pass = tasks_.enter();
  const ExitStatus status = co_await process->run();
  on_lost(status);
}

void Keeper::on_lost(const ExitStatus& status) {
  const bool asked = process_->closing() && process_->death_note().empty();
  if (!asked) {
    ++deaths_;
    log::warn("keeper.died", {{"how", describe(status)}});
  }
  process_.reset();
  held_.clear();
  for (auto& [id, waiter] : std::exchange(asked_, {})) waiter->answer.emplace(keeper_gone());
  changed_.notify_all();
  if (!asked && on_lost_) on_lost_();
}

void Keeper::on_frame(const Frame& frame) {
  const auto waiter = asked_.find(frame.request);
  if (waiter == asked_.end()) return;  // forgotten meanwhile
  if (frame.type == FrameType::kKept) {
    waiter->second->answer.emplace();
  } else if (auto failed = wire::decode_failed(frame.payload)) {
    waiter->second->answer.emplace(fail(error_code_named(failed->code), failed->message));
  } else {
    return process_->kill("it sent what cannot be read");
  }
  asked_.erase(waiter);
  changed_.notify_all();
}

// ---- what it holds ----

Task<Result<>> Keeper::keep(std::string artifact, LoadSet load_set, Bytes bytes) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  LoadSet wanted = first_of(load_set, bytes);
  if (wanted.size() > wire::kMaxDescriptors) {
    co_return fail(ErrorCode::kUnsupported, "a model of so many files cannot be pinned");
  }
  while (busy_.contains(artifact)) co_await changed_.wait();
  busy_.insert(artifact);
  Result<> kept = co_await keep_set(artifact, std::move(wanted));
  busy_.erase(artifact);
  changed_.notify_all();
  co_return kept;
}

// Pins that are being made count too: two may be under way at once.
Result<> Keeper::check_budget(const std::string& artifact, const LoadSet& wanted) const {
  Bytes others;
  for (const auto& [other, held] : held_) {
    if (other != artifact) others += size_of(held.set);
  }
  if (others + size_of(wanted) <= most_) return {};
  const auto mebi = [](Bytes bytes) { return bytes.count() >> 20; };
  return fail(
      ErrorCode::kNoSpace,
      fmt::format("pinning {} MiB of pages beside {} MiB that are pinned exceeds the budget "
                  "of {} MiB; pin a part with --bytes, unpin another model, or raise "
                  "pinned_mib in the configuration",
                  mebi(size_of(wanted)), mebi(others), mebi(most_)));
}

Task<Result<>> Keeper::keep_set(std::string artifact, LoadSet wanted) {
  if (auto fits = check_budget(artifact, wanted); !fits) co_return fits;
  auto job = [this, wanted] { return open_set(world_.files, wanted); };
  Result<Opened> opened = co_await world_.disk.run(world_.loop, std::move(job));
  if (!opened) co_return Failed{std::move(opened).error()};
  Result<> running = co_await ensure_process();
  if (!running) co_return running;
  forget(artifact);
  const std::uint64_t id = next_id_++;
  held_[artifact] = Held{id, std::move(wanted), false};
  Asked asked;
  asked_[id] = &asked;
  Frame frame = wire::make_frame(FrameType::kKeep, id, wire::encode(opened->message));
  frame.descriptors = std::move(opened->files);
  process_->send(std::move(frame));
  while (!asked.answer) co_await changed_.wait();
  const auto held = held_.find(artifact);
  if (held != held_.end() && held->second.id == id) {
    held->second.locked = asked.answer->has_value();
    if (!held->second.locked) held_.erase(held);
  }
  co_return std::move(*asked.answer);
}

void Keeper::forget(const std::string& artifact) {
  const auto held = held_.find(artifact);
  if (held == held_.end()) return;
  if (process_) process_->send(wire::make_frame(FrameType::kForget, held->second.id, "{}"));
  held_.erase(held);
}

Bytes Keeper::held(const std::string& artifact) const {
  const auto held = held_.find(artifact);
  return held == held_.end() || !held->second.locked ? Bytes{} : size_of(held->second.set);
}

bool Keeper::holds(const std::string& artifact, const LoadSet& load_set, Bytes bytes) const {
  const auto held = held_.find(artifact);
  return held != held_.end() && held->second.locked &&
         held->second.set == first_of(load_set, bytes);
}

Task<void> Keeper::stop() {
  stopping_ = true;
  if (process_) process_->close();
  changed_.notify_all();
  co_await tasks_.close();
}

}  // namespace hearth::front
