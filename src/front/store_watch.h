// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/result.h"
#include "base/sync.h"
#include "layers/artifact/found/scan.h"

namespace hearth::front {

// The eye on other programs' stores and on watched folders: looks at all of them when it begins,
// and at one of them again when its folders have changed, when something in it was unfinished, and
// every ten minutes. Each store has its line in the log when a look brings something new; a problem
// is told once. Belongs to the loop. Call stop() before destroying it.
class StoreWatch {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;  // one thread is enough
    const Files& files;
    const Clock& clock;
    // What is to be looked into, as configured now.
    std::function<std::vector<StoreRoot>()> roots;
    // Paths of the files that are listed already.
    std::function<std::set<std::string>()> known;
    // Roots that names in the catalogue came from.
    std::function<Task<Result<std::vector<StoreRoot>>>()> noted;
    // What is in one store. Called with what is known first, then with more and more of what is
    // new, so that the catalogue is never busy for long; the last time with all.
    std::function<Task<Result<FoundReport>>(StoreRoot, std::vector<FoundModel>, FoundExtent)> note;
  };
  explicit StoreWatch(World world);

  // Looks until stop(). Spawn it once.
  Task<void> run();

  // Returns after a look at everything that began after this call. Errors: kUnavailable, when it
  // stops first.
  Task<Result<>> look_now();

  // The configuration may say something else.
  void look_soon();

  Task<void> stop();

 private:
  struct Seen {
    TimePoint looked;
    std::vector<Watched> watched;
    bool again_soon = false;
    std::string summary;  // of the last line in the log
  };
  struct Count {
    int added = 0;
    int removed = 0;
    std::vector<std::string> refused;
  };
  enum class How { kWhereDue, kEverywhere };

  Task<void> look(How how);
  Task<void> look_into(StoreRoot root);
  Task<bool> is_due(StoreRoot root);
  Task<void> forget(StoreRoot root);
  Task<std::vector<StoreRoot>> distinct_roots();
  Task<Result<Count>> note(StoreRoot root, std::vector<FoundModel> models);
  void tell(const StoreRoot& root, const StoreScan& scan, const Count& count, Duration took);
  void tell_problem(const StoreRoot& root, const std::string& problem);

  World world_;
  Notify wake_;
  Notify looked_;
  Gate tasks_;
  bool stopping_ = false;
  bool cleaned_ = false;  // stores that went while no server ran have been forgotten
  std::uint64_t asked_ = 1;
  std::uint64_t served_ = 0;
  bool soon_ = false;
  std::map<StoreRoot, Seen> seen_;
  std::set<std::string> told_;  // problems
};

}  // namespace hearth::front
