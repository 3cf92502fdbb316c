// SPDX-License-Identifier: Apache-2.0
#include "front/compiled_store.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hearth::front {
namespace {

// A use is noted in the file at most so often.
constexpr std::chrono::hours kTouchEvery{20};

repack::Key key_of(std::string content, const wire::CompileKey& key) {
  return {std::move(content), key.engine, key.driver, key.hardware, key.layout};
}

// Any other error says nothing about the file: too many open ones, say.
bool is_gone(const Error& error) {
  return error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kNotFound;
}

CompiledCause cause_named(std::string_view difference) {
  if (difference == "engine") return CompiledCause::kEngine;
  if (difference == "driver") return CompiledCause::kDriver;
  if (difference == "hardware") return CompiledCause::kHardware;
  if (difference == "model") return CompiledCause::kModel;
  return CompiledCause::kShape;
}

}  // namespace

CompiledStore::CompiledStore(World world)
    : world_{std::move(world)},
      directory_{world_.files, world_.directory},
      tasks_{world_.loop},
      opened_{world_.loop} {}

Task<void> CompiledStore::open() {
  while (opening_) co_await opened_.wait();
  if (open_) co_return;
  opening_ = true;
  auto job = [this] { return directory_.sweep(); };
  std::vector<CompiledFile> found = co_await world_.pool.run(world_.loop, std::move(job));
  for (CompiledFile& each : found) {
    const std::int64_t used_ns = each.file.modified_ns;
    kept_.push_back(Kept{std::move(each), false, {}, 0, used_ns});
  }
  std::vector<std::string> gone;
  for (const std::size_t index : beyond_room(worth_of_all(), world_.room())) {
    gone.push_back(kept_[index].at.path);
  }
  (void)co_await forget(std::move(gone));
  opening_ = false;
  open_ = true;
  opened_.notify_all();
}

// ---- for a load ----

Task<StoredRepack> CompiledStore::find(std::string artifact, wire::CompileKey key) {
  const auto pass = tasks_.enter();
  StoredRepack none;
  if (!pass) co_return none;
  co_await open();
  seen_[artifact].path.clear();
  const std::optional<std::string> content = world_.content(artifact);
  repack::Key wanted = key_of(content.value_or(""), key);
  if (Kept* kept = content ? fitting(wanted) : nullptr) {
    CompiledFile known = kept->at;
    StoredRepack handed = co_await hand_out(artifact, std::move(known));
    if (handed.file) {
      seen_[artifact].cause = CompiledCause::kFirst;
      co_return handed;
    }
  }
  seen_[artifact].cause = cause_of(artifact, wanted);
  co_await drop_stale(std::move(artifact), std::move(wanted));
  co_return none;
}

// Without a file when it is no more what it was.
Task<StoredRepack> CompiledStore::hand_out(std::string artifact, CompiledFile known) {
  const std::string path = known.path;
  auto job = [this, known] { return directory_.open(known); };
  Result<CompiledFiles::Opened> opened = co_await world_.pool.run(world_.loop, std::move(job));
  StoredRepack handed;
  Kept* kept = at(path);
  if (kept == nullptr) co_return handed;
  if (!opened) {
    set_note(artifact, "what was stored was not usable: " + opened.error().message());
    log::warn("compiled.refused", {{"file", path}, {"reason", opened.error().message()}});
    if (is_gone(opened.error())) co_await forget_refused(path);
    co_return handed;
  }
  if (kept->at.file != opened->found.file) kept->checked = false;
  kept->at = std::move(opened->found);
  handed.file = std::move(opened->file);
  handed.check = !kept->checked;
  handed.content = kept->at.table.key.content;
  stored_[world_.name(artifact)] = handed.content;
  Seen& seen = seen_[artifact];
  seen.path = path;
  co_return handed;
}

// Also of a model whose content is not known: then of what its name had before.
CompiledCause CompiledStore::cause_of(const std::string& artifact, const repack::Key& key) const {
  const auto before = stored_.find(world_.name(artifact));
  for (const Kept& kept : kept_) {
    const repack::Key& has = kept.at.table.key;
    if (!key.content.empty() && has.content == key.content && has != key) {
      return cause_named(repack::difference(has, key));
    }
  }
  const bool replaced = before != stored_.end() && before->second != key.content;
  return replaced ? CompiledCause::kModel : CompiledCause::kFirst;
}

bool CompiledStore::is_stale(const Kept& kept, const repack::Key& key,
                             const std::string& name) const {
  const std::string& content = kept.at.table.key.content;
  // Files that were only touched may turn out to hold what they did.
  if (key.content.empty()) return false;
  if (content == key.content) {
    // Another choice of weights may be back with the next worker; the rest is gone for good.
    const std::string_view other = repack::difference(kept.at.table.key, key);
    return other == "engine" || other == "driver" || other == "hardware";
  }
  const auto before = stored_.find(name);
  return before != stored_.end() && before->second == content && world_.models(content) == 0;
}

Task<void> CompiledStore::drop_stale(std::string artifact, repack::Key key) {
  const std::string name = world_.name(artifact);
  std::vector<std::string> stale;
  for (const Kept& kept : kept_) {
    if (!is_stale(kept, key, name)) continue;
    stale.push_back(kept.at.path);
    log::info("compiled.stale", {{"model", name}, {"cause", code_of(seen_[artifact].cause)}});
  }
  if (!key.content.empty()) stored_.erase(name);
  (void)co_await forget(std::move(stale));
}

void CompiledStore::note_load(const std::string& artifact, const wire::LoadedMessage& loaded) {
  Seen& seen = seen_[artifact];
  ++seen.starts;
  if (loaded.repack == "built") {
    Duration time{};
    for (const Stage& stage : loaded.stages) {
      if (stage.kind == StageKind::kCompile) time += stage.length();
    }
    if (time > Duration{}) seen.time = time;
  }
  const std::string path = std::exchange(seen.path, {});
  Kept* kept = at(path);
  if (kept == nullptr) return;
  if (!loaded.stored_refused.empty()) {
    seen.note = "what was stored was not usable: " + loaded.stored_refused;
    log::warn("compiled.refused", {{"file", path}, {"reason", loaded.stored_refused}});
    world_.loop.spawn(forget_refused(path));
    return;
  }
  seen.note.clear();
  if (loaded.repack == "stored") note_use(*kept);
}

void CompiledStore::note_use(Kept& kept) {
  kept.checked = true;
  ++kept.starts;
  const bool fresh = now_ns() - kept.used_ns < Duration{kTouchEvery}.count();
  kept.used_ns = now_ns();
  if (!fresh) world_.loop.spawn(touch(kept.at.path));
}

Task<void> CompiledStore::touch(std::string path) {
  const auto pass = tasks_.enter();
  const Kept* kept = at(path);
  if (!pass || kept == nullptr) co_return;
  auto job = [this, known = kept->at, now = now_ns()] { return directory_.touch(known, now); };
  const FileInfo now = co_await world_.pool.run(world_.loop, std::move(job));
  if (Kept* still = at(path)) still->at.file = now;
}

// ---- keeping and forgetting ----

Task<Result<CompiledStore::Draft>> CompiledStore::begin(std::string artifact, wire::CompileKey key,
                                                        Bytes size, StoreWish wish) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  co_await open();
  const std::optional<std::string> content = world_.content(artifact);
  if (!content) {
    co_return fail(ErrorCode::kUnavailable, "the model's content has not been hashed yet");
  }
  const Seen& seen = seen_[artifact];
  const StoredWorth wanted{size, seen.time.value_or(Duration{}), seen.starts, {}, 1};
  const StorePlan plan = plan_store(wanted, worth_of_all(), world_.room(), wish);
  if (!plan.store) co_return fail(ErrorCode::kNoSpace, plan.why_not);
  std::vector<std::string> evicted;
  for (const std::size_t index : plan.evict) evicted.push_back(kept_[index].at.path);
  (void)co_await forget(std::move(evicted));
  repack::Key whole = key_of(*content, key);
  auto job = [this, whole, size] { return directory_.begin(whole, size); };
  Result<CompiledFiles::Draft> made = co_await world_.pool.run(world_.loop, std::move(job));
  if (!made) co_return Failed{std::move(made).error()};
  Draft draft{std::move(whole), std::move(made->path), std::move(made->file)};
  Result<Draft> begun{std::move(draft)};
  co_return begun;
}

Task<Result<>> CompiledStore::keep(Draft draft) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  auto job = [this, path = draft.path, key = draft.key] { return directory_.publish(path, key); };
  Result<CompiledFile> whole = co_await world_.pool.run(world_.loop, std::move(job));
  if (!whole) co_return Failed{std::move(whole).error()};
  std::erase_if(kept_, [&](const Kept& each) { return each.at.path == whole->path; });
  Kept kept{std::move(*whole), false, {}, 0, now_ns()};
  for (auto& [artifact, seen] : seen_) {
    if (world_.content(artifact) != draft.key.content) continue;
    kept.repack = seen.time.value_or(kept.repack);
    kept.starts = std::max(kept.starts, seen.starts);
    seen.note.clear();
    stored_[world_.name(artifact)] = draft.key.content;
  }
  const std::string path = kept.at.path;
  const Bytes size = kept.at.file.size;
  log::info("compiled.stored", {{"file", path}, {"bytes", size.count()}});
  kept_.push_back(std::move(kept));
  std::vector<std::string> gone;
  for (const std::size_t index : beyond_room(worth_of_all(), world_.room())) {
    gone.push_back(kept_[index].at.path);
  }
  (void)co_await forget(std::move(gone));
  if (at(path) == nullptr) co_return fail(ErrorCode::kNoSpace, "it does not fit the budget");
  co_return Result<>{};
}

Task<void> CompiledStore::give_up(Draft draft) {
  auto job = [this, path = draft.path] { return directory_.remove(path); };
  (void)co_await world_.pool.run(world_.loop, std::move(job));
}

Task<Result<Bytes>> CompiledStore::drop(std::string artifact) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  co_await open();
  const std::optional<std::string> content = world_.content(artifact);
  std::vector<std::string> paths;
  for (const Kept& kept : kept_) {
    if (content && kept.at.table.key.content == *content) paths.push_back(kept.at.path);
  }
  seen_[artifact].note.clear();
  stored_.erase(world_.name(artifact));
  co_return co_await forget(std::move(paths));
}

Task<Result<Bytes>> CompiledStore::forget(std::vector<std::string> paths) {
  Bytes freed;
  for (const std::string& path : paths) {
    if (const Kept* kept = at(path)) freed += kept->at.file.size;
    std::erase_if(kept_, [&](const Kept& each) { return each.at.path == path; });
  }
  auto job = [this, paths]() -> Result<> {
    Result<> all;
    for (const std::string& path : paths) {
      if (Result<> removed = directory_.remove(path); !removed) all = std::move(removed);
    }
    return all;
  };
  Result<> removed = co_await world_.pool.run(world_.loop, std::move(job));
  if (!removed) {
    log::warn("compiled.not_removed", {{"error", removed.error().message()}});
    co_return Failed{std::move(removed).error()};
  }
  co_return freed;
}

Task<void> CompiledStore::forget_refused(std::string path) {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  std::vector<std::string> paths{std::move(path)};
  (void)co_await forget(std::move(paths));
}

// ---- what is known ----

StoredWorth CompiledStore::worth_of(const Kept& kept) const {
  const Duration unused{std::max<std::int64_t>(0, now_ns() - kept.used_ns)};
  return {kept.at.file.size, kept.repack, kept.starts, unused,
          world_.models(kept.at.table.key.content)};
}

std::vector<StoredWorth> CompiledStore::worth_of_all() const {
  std::vector<StoredWorth> all;
  for (const Kept& kept : kept_) all.push_back(worth_of(kept));
  return all;
}

CompiledStore::Kept* CompiledStore::at(const std::string& path) {
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return kept.at.path == path; });
  return found == kept_.end() ? nullptr : &*found;
}

CompiledStore::Kept* CompiledStore::fitting(const repack::Key& key) {
  return at(directory_.path_of(key));
}

const CompiledFile* CompiledStore::stored(const std::string& artifact,
                                          const std::optional<wire::CompileKey>& key) const {
  const std::optional<std::string> content = world_.content(artifact);
  if (!content) return nullptr;
  for (const Kept& kept : kept_) {
    const repack::Key& has = kept.at.table.key;
    if (has.content == *content && (!key || has == key_of(*content, *key))) return &kept.at;
  }
  return nullptr;
}

CompiledCause CompiledStore::cause(const std::string& artifact) const {
  const auto seen = seen_.find(artifact);
  return seen == seen_.end() ? CompiledCause::kFirst : seen->second.cause;
}

std::optional<Duration> CompiledStore::time(const std::string& artifact) const {
  const auto seen = seen_.find(artifact);
  return seen == seen_.end() ? std::nullopt : seen->second.time;
}

std::string CompiledStore::note(const std::string& artifact) const {
  const auto seen = seen_.find(artifact);
  return seen == seen_.end() ? std::string{} : seen->second.note;
}

void CompiledStore::set_cause(const std::string& artifact, CompiledCause cause) {
  seen_[artifact].cause = cause;
}

void CompiledStore::set_note(const std::string& artifact, std::string note) {
  seen_[artifact].note = std::move(note);
}

}  // namespace hearth::front
