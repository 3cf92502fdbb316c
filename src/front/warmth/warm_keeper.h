// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/sync.h"
#include "front/prewarm/lasting_time.h"
#include "front/prewarm/moments.h"
#include "front/warmth/rung_choice.h"
#include "front/warmth/warm_claim.h"
#include "front/warmth/warm_notes.h"
#include "timeline/report.h"

namespace hearth::front {

// How one model stands now.
struct WarmView {
  std::vector<RungOffer> offers;
  Rung stands = Rung::kNone;         // the highest rung that is true
  std::optional<Forecast> as_it_is;  // of a short prompt, from where it stands
  std::string harmed;                // see RungSigns
  Bytes room;                        // see RungSigns
  std::optional<double> psi_avg300;  // memory "some", percent
  bool busy = false;                 // a request is in or waits, or it is being loaded
  bool may_probe = true;             // nothing else forbids a probe: others' requests, pressure
};

// Keeps warm(T, g) for the models that have a T: holds the cheapest rung that meets it, proves it
// by requests and probes, and says what holds and what was given up. Belongs to the loop.
class WarmKeeper {
 public:
  using Terms = std::map<std::string, WarmTerms>;  // by artifact

  struct World {
    EventLoop& loop;
    Moments moments;
    const Files& files;
    std::string path;  // warmth.json
    // nullopt: there is no such model now.
    std::function<std::optional<WarmView>(const std::string& artifact)> view;
    // Makes it stand there: what the rung keeps is there afterwards, and pins that it does not keep
    // are let go; weights that it does not keep lose their floor and nothing else.
    std::function<Task<Result<>>(std::string artifact, RungDecision decision)> apply;
    // One token of a fixed short prompt, by the way that requests go: no use of the model, keeping
    // nothing awake, and in no history as a reply. Returns its time to the first token. Errors:
    // kCancelled, kBusy, kNoSpace, kConflict: it was not sent and says nothing; any other is what a
    // request would have got, and a miss.
    std::function<Task<Result<Duration>>(std::string artifact)> probe;
    std::function<void()> on_change = [] {};
  };
  explicit WarmKeeper(World world);
  ~WarmKeeper();  // after stop(), unless it was never started

  // Takes over what an earlier server learnt; as HabitFile does. Before set(). Blocks.
  void load();
  Task<void> save(Pool& pool);

  // Which models have a T. What is known of one that loses it is kept, in case it comes back.
  void set(Terms terms);

  void start();
  // apply() and probe() end by other means.
  Task<void> stop();
  // Something that a view says may have changed.
  void look_again() { woken_.notify_all(); }

  // Requests, from whom `left` is the last.
  void answered(const std::string& artifact, const FirstToken& token);
  void gave_up(const std::string& artifact, const FirstToken& so_far);
  void left(const std::string& artifact);
  // Something that the model held was taken: "memory was wanted by qwen-9b".
  void gave_way(const std::string& artifact, const std::string& why);

  // Its file was replaced: other weights prove nothing, so only its idleness goes on.
  void rename(const std::string& from, const std::string& to);
  void forget(const std::string& artifact);

  // What holdings of the model may not go below; kNone without terms.
  FloorReason floor_reason(const std::string& artifact, HoldingKind kind) const;
  // nullopt: it has no T, or has not been looked at.
  std::optional<RungDecision> decision(const std::string& artifact) const;
  std::optional<WarmVerdict> verdict(const std::string& artifact) const;

  // Where T cannot be had from where the model stands: what can, and what was given up. nullopt:
  // nothing is wanted, it can be had, or nobody has looked yet.
  std::optional<WarmBound> bound(const std::string& artifact) const;

  // {"ttft_ms", "idle_gap_s", "state", "met", "of", "wilson_low", "bound_ms", "rung", "stands",
  //  "promise": "meets|likely|cannot", "given_up": [{"layer", "why"}], "reason", "last": [{"at_us",
  //  "gap_s", "ttft_ms", "met", "kind", "psi_rise", "harmed"}], "probe": {"due_us", "error"},
  //  "idle_s"}, the
  // last ones first, five at most; "null" for a model without a T.
  std::string json(const std::string& artifact) const;

  static constexpr Duration kLook = std::chrono::seconds{10};
  static constexpr Duration kRetry = std::chrono::seconds{10};  // doubling up to
  static constexpr Duration kLongestRetry = std::chrono::minutes{10};

 private:
  struct Model;
  class Pause {
   public:
    bool over(Duration now) const { return now >= until_; }
    void extend(Duration now);
    void reset() { *this = {}; }

   private:
    Duration until_{};
    Duration length_{};
  };

  Task<void> run();
  Task<void> tend(std::string artifact);
  Task<void> move(std::string artifact, RungDecision decision);
  Task<void> ask(std::string artifact);
  void look_at(Model& model, const WarmView& view, Duration now);
  void note_end(Model& model, Duration now);
  Model* find(const std::string& artifact);
  const Model* find(const std::string& artifact) const;
  Duration now() const { return time_.at(world_.moments.now()); }
  std::map<std::string, WarmNotes> notes() const;

  World world_;
  mutable LastingTime time_;
  Notify woken_;
  Gate gate_;
  bool running_ = false;
  std::map<std::string, std::unique_ptr<Model>> models_;
  std::map<std::string, WarmNotes> others_;  // that have no T now
  std::uint64_t version_ = 0;
  std::uint64_t saved_ = 0;
  bool saving_ = false;
};

}  // namespace hearth::front
