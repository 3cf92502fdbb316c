// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "front/events.h"
#include "front/pulls/pull.h"
#include "front/pulls/pull_waiter.h"
#include "front/service.h"

namespace hearth::front {

// All pulls, by source. Who asks for what is being pulled already joins; the last waiter who leaves
// pauses it, and what has arrived is kept: it goes on with the next one, also after a restart. At
// most two run at once, the others wait in the order in which they were asked for.
//
// Belongs to the loop. Call stop() before destroying it.
class Pulls : public Pull::Owner {
 public:
  // Of one that is paused. With kDropped the artifact layer is switched off.
  enum class PausedParts { kKept, kDropped };
  struct World {
    Pull::World pull;
    const Clock& clock;
    EventBus& events;
    PausedParts paused_parts = PausedParts::kKept;
  };

  explicit Pulls(World world);
  ~Pulls() override;
  Pulls(const Pulls&) = delete;
  Pulls& operator=(const Pulls&) = delete;

  // Lists what earlier runs of the server left. Nothing is started.
  Task<void> look_for_parts();

  // Begins or joins. `name`: canonical, or empty for the source's own. `again`: see Pull; who joins
  // gets what is being pulled.
  std::unique_ptr<PullWaiter> join(const ModelSource& source, std::string name,
                                   std::optional<FetchPlan> again);
  // One that has failed already.
  std::unique_ptr<PullWaiter> refused(Error error) const;

  // The pull under way, queued or running, of what will be called so (ModelName::key()). Null:
  // there is none. Valid until control goes back to the loop.
  const Pull* under_way_as(const std::string& name_key) const;

  // How much of a source's files is here, as far as is known without looking.
  struct Share {
    Bytes done;
    Bytes total;
  };
  Share share(const std::string& source) const;

  std::vector<PullStatus> statuses() const;

  // `name`: of a model or a source. Whoever waits is told kCancelled. Errors: kNotFound.
  Task<Result<>> stop_pull(std::string name, Service::Parts parts);

  // Partial downloads of pulls under way: not to be touched.
  std::set<std::string> keys_under_way() const;

  // Takes away parts that nothing was added to for so long; never those of a pull under way, nor of
  // the sources that a listed model waits for.
  Task<void> drop_older_than(std::chrono::seconds age, std::set<std::string> awaited);

  // Ends all; what has arrived is kept.
  Task<void> stop();

  static constexpr int kAtOnce = 2;

 private:
  enum class State { kQueued, kRunning, kPaused, kFailed };
  struct Entry {
    std::unique_ptr<Pull> pull;  // null: parts that an earlier run of the server left
    std::vector<PullWaiter*> waiters;
    std::vector<std::string> detached;  // names, for those who want it and do not wait
    State state = State::kPaused;
    bool driven = false;  // drive() is under way
    bool is_done = false;
    bool drop = false;       // its parts are to go
    bool has_parts = false;  // when it was tidied
    std::string reason;
    std::int64_t touched_us = 0;
    std::string name;               // while there is no `pull`
    std::vector<std::string> keys;  // of parts that were found
    Bytes kept, total;              // while it does not run
    State told_state = State::kPaused;
    std::string told_stage;
    TimePoint told_at;

    bool wanted() const { return !waiters.empty() || !detached.empty(); }
  };

  void progressed(Pull& pull) override;
  std::vector<std::string> names(const Pull& pull) const override;
  std::vector<Pull::Unwritten> promised_to_others(const Pull& pull) const override;
  Task<void> turn(const Pull& pull) override;

  Task<void> drive(std::string source);
  Task<bool> take_slot(Entry* entry, std::string source);
  Task<void> run(Entry* entry, std::string source);
  Task<void> tidy(Entry* entry);
  Task<void> drop_unknown_older_than(std::int64_t oldest_us);
  Task<void> end(std::string source, Service::Parts parts);
  void settle(Entry& entry, const Result<TransferDone>& done);
  void left(const std::string& source, PullWaiter& waiter, PullWaiter::Left how);
  void let_go(Entry& entry, const Error& why);
  void publish(const std::string& source, Entry& entry);
  bool holds(const std::vector<std::string>& keys, const Pull* except) const;
  static std::string default_name(const Entry& entry);
  static std::vector<std::string> wanted_names(const Entry& entry);
  static PullStatus status_of(const std::string& source, const Entry& entry);
  std::optional<std::string> source_named(const std::string& name) const;

  World world_;
  std::map<std::string, Entry> entries_;  // by source
  std::deque<const Entry*> queue_;
  int running_ = 0;
  Notify changed_;
  Gate tasks_;
  bool stopping_ = false;
};

}  // namespace hearth::front
