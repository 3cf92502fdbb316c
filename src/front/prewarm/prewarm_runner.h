// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/event_loop.h"
#include "base/sync.h"
#include "front/prewarm/habit_file.h"
#include "front/prewarm/prewarm_signs.h"
#include "layers/progress.h"

namespace hearth::front {

// Reads models ahead of the requests that habits foretell, while nobody wants anything. Belongs to
// the loop.
class PrewarmRunner {
 public:
  struct World {
    EventLoop& loop;
    HabitFile& habits;
    std::function<PrewarmSigns()> signs;
    // All models that could be moved up or give way, by artifact. Their `probability` is filled in
    // here.
    std::function<std::vector<PrewarmCandidate>()> candidates;
    std::function<Bytes()> free;        // what may be filled without taking anything from anybody
    std::function<double()> read_rate;  // of the device, bytes a second; 0: not known
    // Brings in so much more of a model, at idle priority, and makes it resident with the last of
    // it. Returns what was read; ends early, with that, once `progress` is cancelled, and reports
    // to it how much has been read so that an error costs no bytes in the account.
    std::function<Task<Result<Bytes>>(std::string artifact, Bytes bytes,
                                      std::shared_ptr<SharedProgress> progress)>
        warm;
    std::function<Task<Result<>>(std::string artifact, Bytes bytes)> release;
    // For people; the id itself where there is none.
    std::function<std::string(const std::string& artifact)> name = [](const std::string& id) {
      return id;
    };
    std::function<void()> on_change = [] {};  // something that json() says
  };
  explicit PrewarmRunner(World world);

  void start();
  // What is being read ends first.
  Task<void> stop();

  // A request came that wants the model's weights: ends what is being read, whatever it is for, and
  // counts as found what lies there of the model. To be called before the model changes.
  void request(const std::string& artifact);
  // So much was read while a request waited for it: see Prewarmer::note_demand().
  void demand(Bytes read) { world_.habits.prewarm().note_demand(read); }
  // Something that signs() say has changed: ends what is being read if it now may not be.
  void poke();

  bool reading() const { return step_ != nullptr; }

  // {"state": "off|held|idle|reading", "why", "model", "allowance_bytes", "daily_bytes",
  //  "models": [{"model", "artifact", "read_bytes", "used_bytes", "wasted_bytes", "unused_bytes",
  //  "gib_hours", "saved_s", "pauses", "resting_until_us", "probability", "next": {"earliest_us",
  //  "likely_us", "latest_us"}}]}; what is not known, or not so, is null. `probability` is of a
  // request within the rules' horizon.
  std::string json() const;

  static constexpr Duration kLook = std::chrono::seconds{10};
  static constexpr Duration kBetweenSteps = std::chrono::seconds{1};
  static constexpr Duration kAfterFailure = std::chrono::minutes{10};

 private:
  struct Step {
    std::string artifact;
    std::shared_ptr<SharedProgress> progress;  // also the reader's
    bool asked_for = false;                    // a request for this very model came meanwhile
  };

  Task<void> run();
  Task<Duration> look();
  Task<Duration> take(PrewarmStep step);
  Task<Result<Bytes>> carry_out(PrewarmStep step);
  void note(const Step& step, Bytes read);
  double seconds_per_byte(const std::string& artifact) const;
  std::vector<PrewarmCandidate> candidates(Duration now);
  bool may() const { return running_ && why_not_prewarm(world_.signs()).empty(); }
  void cancel();
  void watch_step();

  World world_;
  Notify woken_;
  Gate gate_;
  bool running_ = false;
  std::unique_ptr<Step> step_;
  EventLoop::TimerId watch_ = 0;
  std::map<std::string, double> seconds_per_byte_;  // as of the last look
  std::map<std::string, Duration> failed_until_;
};

}  // namespace hearth::front
