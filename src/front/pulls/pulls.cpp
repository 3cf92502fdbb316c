// SPDX-License-Identifier: Apache-2.0
#include "front/pulls/pulls.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "layers/artifact/model_name.h"

namespace hearth::front {
namespace {

std::string key_of(const std::string& name) {
  const Result<ModelName> parsed = ModelName::parse(name);
  return parsed ? parsed->key() : std::string{};
}

TransferProgress queued() {
  TransferProgress progress;
  progress.stage = "queue";
  progress.note = "other pulls come first";
  return progress;
}

Error stopped_error() { return {ErrorCode::kCancelled, "the pull was stopped"}; }
Error stopping_error() { return {ErrorCode::kUnavailable, "the server is stopping"}; }

enum class Kept { kWhatCame, kNothing };

std::set<std::string> set_of(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

void drop_part(const BlobStore& store, const std::string& key) {
  const Result<Bytes> dropped = store.drop_partial(key);
  if (dropped || dropped.error().code() == ErrorCode::kNotFound) return;
  log::warn("pull.parts_not_dropped", {{"error", dropped.error().message()}});
}

// Returns whether anything is left of these.
bool drop_parts(const BlobStore& store, const std::set<std::string>& keys, Kept kept) {
  const Result<std::vector<BlobStore::Partial>> parts = store.partials();
  if (!parts) return true;
  bool left = false;
  for (const BlobStore::Partial& part : *parts) {
    if (!keys.contains(part.key)) continue;
    if (kept == Kept::kWhatCame && part.arrived > Bytes{}) {
      left = true;
    } else {
      drop_part(store, part.key);
    }
  }
  return left;
}

}  // namespace

Pulls::Pulls(World world)
    : world_{std::move(world)}, changed_{world_.pull.loop}, tasks_{world_.pull.loop} {}

Pulls::~Pulls() = default;

// ---- who waits ----

std::unique_ptr<PullWaiter> Pulls::refused(Error error) const {
  auto waiter = std::make_unique<PullWaiter>(world_.pull.loop, "", nullptr);
  waiter->finish(std::move(error), {});
  return waiter;
}

std::unique_ptr<PullWaiter> Pulls::join(const ModelSource& source, std::string name,
                                        std::optional<FetchPlan> again) {
  if (stopping_) return refused(stopping_error());
  Entry& entry = entries_[source.text];
  // Where it had been once, it knows which of its files are right without reading them.
  const bool goes_on = entry.pull && (entry.driven || (!again && !entry.pull->is_exact()));
  if (!goes_on) {
    entry.pull = std::make_unique<Pull>(world_.pull, source, std::move(again), *this);
  }
  auto waiter = std::make_unique<PullWaiter>(
      world_.pull.loop, std::move(name),
      [this, key = source.text](PullWaiter& who, PullWaiter::Left how) { left(key, who, how); });
  entry.waiters.push_back(waiter.get());
  if (entry.state == State::kRunning) waiter->tell(entry.pull->progress());
  if (entry.state == State::kQueued) waiter->tell(queued());
  if (!entry.driven) {
    entry.driven = true;
    world_.pull.loop.spawn(drive(source.text));
  }
  return waiter;
}

void Pulls::left(const std::string& source, PullWaiter& waiter, PullWaiter::Left how) {
  Entry& entry = entries_.at(source);
  std::erase(entry.waiters, &waiter);
  waiter.note(entry.pull->stages());
  if (how == PullWaiter::Left::kDetached) entry.detached.push_back(waiter.name());
  if (entry.wanted()) return;
  log::info("pull.paused", {{"source", source}});
  entry.pull->stop();
  changed_.notify_all();
}

// ---- what runs ----

Task<bool> Pulls::take_slot(Entry* entry, std::string source) {
  entry->state = State::kQueued;
  queue_.push_back(entry);
  const auto is_next = [&] { return running_ < kAtOnce && queue_.front() == entry; };
  if (!is_next()) {
    for (PullWaiter* waiter : entry->waiters) waiter->tell(queued());
  }
  publish(source, *entry);
  while (entry->wanted() && !is_next()) co_await changed_.wait();
  std::erase(queue_, entry);
  changed_.notify_all();
  const bool mine = entry->wanted();
  if (mine) ++running_;
  entry->state = mine ? State::kRunning : State::kPaused;
  co_return mine;
}

Task<void> Pulls::drive(std::string source) {
  const auto pass = tasks_.enter();
  Entry& entry = entries_.at(source);
  do {
    while (entry.wanted()) co_await run(&entry, source);
    co_await tidy(&entry);
    // Somebody may have come meanwhile.
  } while (entry.wanted());
  entry.driven = false;
  publish(source, entry);
  if (!entry.has_parts) entries_.erase(source);
  changed_.notify_all();
}

Task<void> Pulls::run(Entry* entry, std::string source) {
  const bool mine = co_await take_slot(entry, source);
  if (!mine) co_return;
  log::info("pull.started", {{"source", source}});
  entry->is_done = false;
  entry->reason.clear();
  const Result<TransferDone> done = co_await entry->pull->run();
  --running_;
  if (entry->pull->plan()) {
    entry->kept = entry->pull->done();
    entry->total = entry->pull->total();
  }
  entry->state = State::kPaused;
  changed_.notify_all();
  // One that was stopped may be wanted again by now.
  if (done || done.error().code() != ErrorCode::kCancelled) settle(*entry, done);
}

void Pulls::settle(Entry& entry, const Result<TransferDone>& done) {
  const std::string& source = entry.pull->source().text;
  if (done) {
    log::info("pull.done", {{"source", source}, {"received", done->received}});
    entry.is_done = true;
  } else {
    log::warn("pull.failed", {{"source", source}, {"error", done.error().message()}});
    entry.state = State::kFailed;
    entry.reason = done.error().message();
  }
  // Who came during the install, with another name, is served by one more run.
  const auto is_served = [&](const std::string& name) {
    const std::string key = key_of(name.empty() ? default_name(entry) : name);
    return !done || key.empty() || entry.pull->installed().contains(key);
  };
  std::erase_if(entry.detached, is_served);
  for (PullWaiter* waiter : std::exchange(entry.waiters, {})) {
    if (!is_served(waiter->name())) {
      entry.waiters.push_back(waiter);
      continue;
    }
    if (!done) {
      waiter->finish(done.error(), entry.pull->stages());
      continue;
    }
    TransferDone end = *done;
    end.model = waiter->name().empty() ? default_name(entry) : waiter->name();
    waiter->finish(std::move(end), entry.pull->stages());
  }
}

// What is left on the disk of one that is over, or that nothing is to be kept of. Room that was
// taken for a file of which nothing came is given back in any case.
Task<void> Pulls::tidy(Entry* entry) {
  const bool keep = world_.paused_parts == PausedParts::kKept && !entry->drop && !entry->is_done;
  const Kept kept = keep ? Kept::kWhatCame : Kept::kNothing;
  entry->drop = false;
  std::set<std::string> keys{entry->keys.begin(), entry->keys.end()};
  if (entry->pull) keys.merge(set_of(entry->pull->keys()));
  std::erase_if(keys, [this](const std::string& key) { return holds({key}, nullptr); });
  auto job = [&store = world_.pull.store, keys, kept] { return drop_parts(store, keys, kept); };
  entry->has_parts = co_await world_.pull.disk.run(world_.pull.loop, std::move(job));
  if (!entry->has_parts) entry->kept = Bytes{};
}

// ---- what pulls ask ----

void Pulls::progressed(Pull& pull) {
  Entry& entry = entries_.at(pull.source().text);
  entry.touched_us = world_.clock.wall_us();
  for (PullWaiter* waiter : entry.waiters) waiter->tell(pull.progress());
  publish(pull.source().text, entry);
  changed_.notify_all();
}

std::vector<std::string> Pulls::wanted_names(const Entry& entry) {
  std::vector<std::string> names = entry.detached;
  for (const PullWaiter* waiter : entry.waiters) names.push_back(waiter->name());
  std::map<std::string, std::string> by_key;
  for (const std::string& name : names) {
    const std::string called = name.empty() ? default_name(entry) : name;
    if (const std::string key = key_of(called); !key.empty()) by_key.emplace(key, called);
  }
  names.clear();
  for (auto& [key, name] : by_key) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> Pulls::names(const Pull& pull) const {
  const auto found = entries_.find(pull.source().text);
  return wanted_names(found->second);
}

std::vector<Pull::Unwritten> Pulls::promised_to_others(const Pull& pull) const {
  std::vector<Pull::Unwritten> promised;
  for (const auto& [source, entry] : entries_) {
    const bool writes = entry.state == State::kRunning && entry.pull.get() != &pull;
    if (!writes) continue;
    for (Pull::Unwritten& file : entry.pull->unwritten()) promised.push_back(std::move(file));
  }
  return promised;
}

bool Pulls::holds(const std::vector<std::string>& keys, const Pull* except) const {
  return std::ranges::any_of(entries_, [&](const auto& one) {
    const Pull* pull = one.second.pull.get();
    if (pull == nullptr || pull == except) return false;
    return std::ranges::any_of(keys, [&](const std::string& key) { return pull->holds(key); });
  });
}

Task<void> Pulls::turn(const Pull& pull) {
  while (!pull.stopped() && holds(pull.keys(), &pull)) co_await changed_.wait();
}

// ---- what there is ----

const Pull* Pulls::under_way_as(const std::string& name_key) const {
  for (const auto& [source, entry] : entries_) {
    if (!entry.driven || !entry.wanted()) continue;
    const std::vector<std::string> names = wanted_names(entry);
    const bool fits = std::ranges::any_of(
        names, [&](const std::string& name) { return key_of(name) == name_key; });
    if (fits) return entry.pull.get();
  }
  return nullptr;
}

Task<void> Pulls::look_for_parts() {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  auto job = [&store = world_.pull.store] { return store.partials(); };
  Result<std::vector<BlobStore::Partial>> found =
      co_await world_.pull.disk.run(world_.pull.loop, std::move(job));
  if (!found) {
    log::warn("pull.parts_not_listed", {{"error", found.error().message()}});
    co_return;
  }
  const SourceServers servers = world_.pull.rules().servers;
  for (const BlobStore::Partial& part : *found) {
    if (part.about.source.empty()) continue;  // nobody knows of what: prune takes it
    Entry& entry = entries_[part.about.source];
    if (entry.driven || entry.pull) continue;  // asked for already
    const Result<ModelSource> source = parse_source(part.about.source, servers);
    if (source) entry.name = source->name;
    entry.keys.push_back(part.key);
    entry.kept += part.arrived;
    entry.total += std::max(part.size, part.about.size);
    entry.touched_us = std::max(entry.touched_us, part.touched_us);
  }
}

// ---- ends ----

void Pulls::let_go(Entry& entry, const Error& why) {
  entry.detached.clear();
  for (PullWaiter* waiter : std::exchange(entry.waiters, {}))
    waiter->finish(why, entry.pull->stages());
  if (entry.pull && entry.driven) entry.pull->stop();
  changed_.notify_all();
}

std::optional<std::string> Pulls::source_named(const std::string& name) const {
  if (entries_.contains(name)) return name;
  const std::string key = key_of(name);
  for (const auto& [source, entry] : entries_) {
    std::vector<std::string> names = wanted_names(entry);
    names.push_back(default_name(entry));
    for (const std::string& one : names) {
      if (!key.empty() && key_of(one) == key) return source;
    }
  }
  return std::nullopt;
}

Task<Result<>> Pulls::stop_pull(std::string name, Service::Parts parts) {
  const auto pass = tasks_.enter();
  if (!pass) co_return Failed{stopping_error()};
  const std::optional<std::string> source = source_named(name);
  if (!source) {
    co_return Failed{
        Error{ErrorCode::kNotFound, "there is no pull of \"" + name + "\""}.at("model")};
  }
  co_await end(*source, parts);
  co_return Result<>{};
}

Task<void> Pulls::end(std::string source, Service::Parts parts) {
  Entry& entry = entries_.at(source);
  let_go(entry, stopped_error());
  if (parts == Service::Parts::kDrop) {
    entry.drop = true;
    if (!entry.driven) {
      entry.driven = true;
      world_.pull.loop.spawn(drive(source));
    }
  }
  for (;;) {
    const auto found = entries_.find(source);
    // Wanted: somebody asked for it anew, and that one goes on.
    if (found == entries_.end() || !found->second.driven || found->second.wanted()) break;
    co_await changed_.wait();
  }
}

Task<void> Pulls::drop_older_than(std::chrono::seconds age, std::set<std::string> awaited) {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  const std::int64_t oldest = world_.clock.wall_us() - age / std::chrono::microseconds{1};
  std::vector<std::string> old;
  for (const auto& [source, entry] : entries_) {
    const bool spared = entry.driven || awaited.contains(source);
    if (!spared && entry.touched_us < oldest) old.push_back(source);
  }
  for (const std::string& source : old) {
    const auto found = entries_.find(source);
    if (found == entries_.end() || found->second.driven) continue;
    log::info("pull.parts_too_old", {{"source", source}});
    co_await end(source, Service::Parts::kDrop);
  }
  co_await drop_unknown_older_than(oldest);
}

// Parts of which nobody can read any more where they came from.
Task<void> Pulls::drop_unknown_older_than(std::int64_t oldest_us) {
  auto job = [&store = world_.pull.store, oldest_us] {
    const Result<std::vector<BlobStore::Partial>> parts = store.partials();
    if (!parts) return;
    for (const BlobStore::Partial& part : *parts) {
      if (part.about.source.empty() && part.touched_us < oldest_us) drop_part(store, part.key);
    }
  };
  co_await world_.pull.disk.run(world_.pull.loop, std::move(job));
}

Task<void> Pulls::stop() {
  stopping_ = true;
  for (auto& [source, entry] : entries_) let_go(entry, stopping_error());
  co_await tasks_.close();
}

}  // namespace hearth::front
