// SPDX-License-Identifier: Apache-2.0
#include "front/store_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hearth::front {
namespace {

constexpr std::chrono::seconds kPause{30};
constexpr std::chrono::minutes kAtLatest{10};
// A header takes some milliseconds, and requests for other models wait for the catalogue meanwhile.
constexpr std::size_t kNewAtOnce = 8;
constexpr std::size_t kMostTold = 1000;

}  // namespace

StoreWatch::StoreWatch(World world)
    : world_{std::move(world)}, wake_{world_.loop}, looked_{world_.loop}, tasks_{world_.loop} {}

Task<void> StoreWatch::run() {
  const auto pass = tasks_.enter();
  while (pass && !stopping_) {
    const std::uint64_t serving = asked_;
    const How how = serving > served_ ? How::kEverywhere : How::kWhereDue;
    soon_ = false;
    co_await look(how);
    served_ = serving;
    looked_.notify_all();
    if (stopping_ || soon_ || asked_ > served_) continue;
    (void)co_await wake_.wait_until(world_.loop.now() + kPause);
  }
}

Task<Result<>> StoreWatch::look_now() {
  const auto pass = tasks_.enter();
  const std::uint64_t mine = ++asked_;
  wake_.notify_all();
  while (pass && !stopping_ && served_ < mine) co_await looked_.wait();
  if (!pass || stopping_) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  co_return Result<>{};
}

void StoreWatch::look_soon() {
  soon_ = true;
  wake_.notify_all();
}

Task<void> StoreWatch::stop() {
  stopping_ = true;
  wake_.notify_all();
  looked_.notify_all();
  co_await tasks_.close();
}

// Two of them may be one place, by a link or by its being named twice: the first counts.
Task<std::vector<StoreRoot>> StoreWatch::distinct_roots() {
  auto job = [roots = world_.roots(), files = &world_.files] {
    std::vector<StoreRoot> distinct;
    std::set<std::string> places;
    for (const StoreRoot& root : roots) {
      const Result<std::string> real = files->real_path(root.path);
      if (places.insert(real ? *real : root.path).second) distinct.push_back(root);
    }
    return distinct;
  };
  co_return co_await world_.pool.run(world_.loop, std::move(job));
}

Task<void> StoreWatch::look(How how) {
  const std::vector<StoreRoot> roots = co_await distinct_roots();
  for (const StoreRoot& root : roots) {
    if (stopping_) co_return;
    bool due = how == How::kEverywhere;
    if (!due) due = co_await is_due(root);
    if (due) co_await look_into(root);
  }
  std::vector<StoreRoot> before;
  for (const auto& [root, seen] : seen_) before.push_back(root);
  if (!cleaned_) {
    Result<std::vector<StoreRoot>> noted = co_await world_.noted();
    if (noted) before.insert(before.end(), noted->begin(), noted->end());
    cleaned_ = noted.has_value();
  }
  for (const StoreRoot& root : before) {
    const bool gone = std::ranges::find(roots, root) == roots.end();
    if (gone && !stopping_) co_await forget(root);
  }
}

Task<bool> StoreWatch::is_due(StoreRoot root) {
  const auto seen = seen_.find(root);
  if (seen == seen_.end() || seen->second.again_soon) co_return true;
  if (seen->second.looked + kAtLatest <= world_.loop.now()) co_return true;
  auto job = [files = &world_.files, watched = seen->second.watched] {
    return has_changed(*files, watched);
  };
  co_return co_await world_.pool.run(world_.loop, std::move(job));
}

Task<void> StoreWatch::forget(StoreRoot root) {
  std::vector<FoundModel> none;
  Result<FoundReport> report = co_await world_.note(root, std::move(none), FoundExtent::kAll);
  if (!report) {
    tell_problem(root, report.error().message());
    co_return;
  }
  log::info("store.left",
            {{"store", name_of(root.store)}, {"root", root.path}, {"removed", report->removed}});
  seen_.erase(root);
}

Task<void> StoreWatch::look_into(StoreRoot root) {
  const TimePoint began = world_.loop.now();
  ScanOptions options;
  options.now_ns = world_.clock.wall_us() * 1000;
  options.known = world_.known();
  auto job = [files = &world_.files, root, options = std::move(options)] {
    return scan_store(*files, root, options);
  };
  StoreScan scan = co_await world_.pool.run(world_.loop, std::move(job));
  Seen& seen = seen_[root];
  seen.looked = world_.loop.now();
  seen.watched = std::move(scan.watched);
  seen.again_soon = scan.again_soon;
  Count count;
  // What cannot be read now is not known to be gone.
  if (scan.root != StoreScan::Root::kUnreadable) {
    Result<Count> noted = co_await note(root, scan.models);
    if (!noted) {
      seen_[root].again_soon = true;
      tell_problem(root, noted.error().message());
      co_return;
    }
    count = std::move(*noted);
  }
  tell(root, scan, count, world_.loop.now() - began);
}

Task<Result<StoreWatch::Count>> StoreWatch::note(StoreRoot root, std::vector<FoundModel> models) {
  const std::set<std::string> known = world_.known();
  const auto first_new = std::ranges::stable_partition(models, [&known](const FoundModel& model) {
    return std::ranges::all_of(model.paths,
                               [&known](const std::string& path) { return known.contains(path); });
  });
  auto next = static_cast<std::size_t>(first_new.begin() - models.begin());
  Count count;
  do {
    next = std::min(next + kNewAtOnce, models.size());
    std::vector<FoundModel> some{models.begin(),
                                 models.begin() + static_cast<std::ptrdiff_t>(next)};
    const FoundExtent extent = next == models.size() ? FoundExtent::kAll : FoundExtent::kPart;
    Result<FoundReport> report = co_await world_.note(root, std::move(some), extent);
    if (!report) co_return Failed{std::move(report).error()};
    count.added += report->added;
    count.removed += report->removed;
    count.refused = std::move(report->refused);
  } while (next < models.size() && !stopping_);
  co_return count;
}

void StoreWatch::tell(const StoreRoot& root, const StoreScan& scan, const Count& count,
                      Duration took) {
  for (const std::string& problem : scan.problems) tell_problem(root, problem);
  for (const std::string& refused : count.refused) tell_problem(root, refused);
  const std::size_t unusable = scan.problems.size() + count.refused.size();
  std::string summary =
      fmt::format("{} {} {}", static_cast<int>(scan.root), scan.models.size(), unusable);
  const bool news = count.added + count.removed > 0;
  Seen& seen = seen_[root];
  // Of a store that is not there, nobody needs to hear.
  const bool nothing = seen.summary.empty() && scan.root == StoreScan::Root::kMissing;
  const bool same = !news && (seen.summary == summary || nothing);
  seen.summary = std::move(summary);
  if (same) return;
  log::info("store.looked", {{"store", name_of(root.store)},
                             {"root", root.path},
                             {"models", scan.models.size()},
                             {"added", count.added},
                             {"removed", count.removed},
                             {"unusable", unusable},
                             {"ms", std::chrono::duration<double, std::milli>{took}.count()}});
}

void StoreWatch::tell_problem(const StoreRoot& root, const std::string& problem) {
  if (told_.size() >= kMostTold || !told_.insert(root.path + "\n" + problem).second) return;
  log::warn("store.problem",
            {{"store", name_of(root.store)}, {"root", root.path}, {"problem", problem}});
}

}  // namespace hearth::front
