// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/event_loop.h"
#include "base/pool.h"
#include "layers/layer.h"
#include "layers/pages/page_history.h"
#include "layers/pages/page_reader.h"
#include "layers/pages/read_guide.h"

namespace hearth {

// One measurement and what it meant.
struct PageSnapshot {
  Residency residency;
  TimePoint at;
  PagesCause cause = PagesCause::kNone;
};

// The model files' pages in memory. Belongs to the loop; what blocks runs in the pool, which should
// have more than one thread, since a read may take minutes and a measurement is wanted meanwhile.
class PagesLayer : public Layer {
 public:
  // All of it outlives the layer and its tasks. Both functions are called on the loop.
  struct World {
    EventLoop& loop;
    Pool& pool;
    const Files& files;
    const Clock& clock;
    // nullopt for an artifact that is not known or not all there.
    std::function<std::optional<LoadSet>(const std::string& artifact)> load_set;
    // Whether some worker maps the artifact's files now.
    std::function<bool(const std::string& artifact)> mapped;
    // How much of it is locked; may be empty.
    std::function<Bytes(const std::string& artifact)> pinned = {};
    // See ReadWorld; asked in the pool. May be empty.
    std::function<std::optional<Bytes>()> room = {};
    ReadGuide* guide = nullptr;  // null: every read goes at once, in the default style
  };
  explicit PagesLayer(World world) : world_{std::move(world)} {}

  // Measures now. Errors: kNotFound, kUnavailable; the snapshot before stays.
  Task<Result<PageSnapshot>> refresh(Subject subject);

  // Null before the first refresh(). Valid until the next.
  const PageSnapshot* snapshot(const std::string& artifact) const;

  // Its files are read past the page cache now, or have been: see PageHistory.
  void note_read_past(const std::string& artifact) { known_[artifact].history.note_read_past(); }

  // Takes in a measurement made elsewhere, as by a load that read the files itself.
  void note_read(Bytes bytes, Duration time);

  // Bytes per second that cold reads have had lately; nullopt before the first of at least 1 MiB.
  std::optional<double> read_rate() const { return rate_; }

  // Levels: "absent", "resident" with its share; "pinned" with the share that is locked.
  LayerState observe(const Subject& subject) const override;
  Estimate cost_to_warm(const Subject& subject) const override;

  // Reads what is missing, when the device's turn comes; what memory has no room for beside the
  // rest is left out, and the state's detail says so. Errors: kNotFound; kCancelled, keeping what
  // was read; kUnsupported for "pinned", which is no level to warm to.
  Task<Result<LayerState>> warm(Subject subject, Target target, Progress& progress) override;

  // Reads at most so much of what is missing, in a pool of the caller's: for nobody who waits.
  // Returns what was read. Ends early, with that, once `progress` is cancelled. Errors: kNotFound.
  struct Ahead {
    Bytes most;
    Pool& pool;
    Progress& progress;
  };
  Task<Result<Bytes>> read_ahead(Subject subject, Ahead ahead);

  // Errors: kNotFound; kConflict while a worker maps the files.
  Task<Result<Bytes>> cool(Subject subject, Target target) override;

 private:
  struct Known {
    std::optional<PageSnapshot> snapshot;
    PageHistory history;
    Bytes left_out;  // by the last warm(), for want of memory
  };
  Task<Result<ReadReport>> read(std::string artifact, LoadSet load_set, Progress& progress);
  void note_files(const std::string& artifact, const LoadSet& load_set);

  World world_;
  std::unordered_map<std::string, Known> known_;  // by artifact
  std::unordered_map<std::string, std::string>
      artifact_at_;  // by path: who was measured there last
  std::optional<double> rate_;
};

}  // namespace hearth
