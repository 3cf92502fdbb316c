// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "front/account.h"
#include "front/layer_set.h"
#include "front/model_host.h"
#include "front/service.h"
#include "front/starts.h"
#include "front/stay.h"
#include "layers/artifact/catalogue.h"
#include "layers/switches.h"
#include "timeline/avoided.h"
#include "timeline/metrics.h"

namespace hearth::front {

// The system's own view of how hard it is pressed, sampled by the service.
struct Pressure {
  double cpu = 0;     // /proc/pressure/cpu, some avg10, percent
  double memory = 0;  // /proc/pressure/memory, likewise
};

// One version of a model's files, with all that the front keeps for it: the host of its worker, and
// what was measured about it. Belongs to the loop.
class Model {
 public:
  struct World {
    ModelHost::World host;
    const Clock& clock;
    LayerSet& layers;
    Metrics& metrics;
    const Pressure& pressure;
    LayerSwitches switches;
    Predictor& predictor;
    // What is wanted of a model's first token and cannot be had; see WarmKeeper::bound().
    std::function<std::optional<WarmBound>(const std::string& artifact)> warm_bound = {};
  };

  Model(World world, NamedModel named, HostSettings settings, ModelHost::OnChange on_change);

  const std::string& name() const { return named_.name; }
  const NamedModel& named() const { return named_; }
  void update(NamedModel named);
  ModelHost& host() { return host_; }
  const ModelHost& host() const { return host_; }

  // Looks at the layers as they are now, for `account`. Scans page residency first when weights are
  // not resident, because then the answer decides how long the request will take; otherwise it
  // takes the last snapshot. For one that needs no weights it takes that always. Errors: those of
  // switched-off layers that must be emptied first.
  Task<Result<>> prepare(Account& account, Use use);

  std::optional<WarmBound> warm_bound() const {
    return world_.warm_bound ? world_.warm_bound(named_.artifact.id) : std::nullopt;
  }

  // The five layers from their last snapshots.
  std::vector<LayerSnapshot> layers() const;
  Subject subject() const;

  // Null: nothing of prompts is kept beyond live cells.
  PrefixPlans* prefixes() const { return world_.host.prefixes; }
  // For a request whose key shares with `group`. Needs a worker.
  PrefixRoom::Use prefix_use(std::string group) const;

  // Why the last load had to compute what could have been kept.
  std::optional<VerdictCode> compiled_cause() const;
  // What drivers keep for its devices, looked at now: more after a request than before was compiled
  // by it.
  Task<Bytes> driver_bytes() const;

  // What has been measured so far.
  Rates rates() const;
  Starts& starts() { return starts_; }
  const Starts& starts() const { return starts_; }
  // Until the first token of whatever is asked next, as things are now.
  Outlook outlook() const { return starts_.outlook(named_.artifact); }
  void learn_prefill(const wire::StartedMessage& started) {
    starts_.note_prefill(named_.artifact, started);
  }
  // Takes in what the host has been through since: a spawn, a load, weights that went.
  enum class Learned { kNothing, kLoad };
  Learned learn_from_host();
  std::optional<double> eta_ms() const;  // until weights are resident; unset while it is a guess
  int retry_after_s() const;             // until the queue has places again
  static constexpr int kShortPrompt = 64;

  // From arrived to left a request may use the host, and the model stays. One that reached the
  // worker counts as use of the weights, if it needs them.
  void request_arrived(Use use);
  void request_reached(Use use, const std::optional<KeepAlive>& keep_alive);
  void request_left(Use use, Stay::Left how);
  void request_retried() { world_.metrics.request_retried(); }
  void queue_rejected() { world_.metrics.queue_rejected(); }
  int requests() const { return requests_; }
  // That are to be expected, by how often it was used and how long it has been left alone.
  double uses_per_hour() const;
  // Its worker, if that is hollow and nobody uses it, with what is known of the model.
  std::optional<HollowWorker> hollow_worker() const;
  // Returns when no request knows this model any more.
  Task<void> unused();

  // Gives the weights back when nobody needs them: at once and until they are gone, or else after
  // the last one has left, without waiting for that.
  Task<Result<>> release();

  // Its files have taken the place of others, or were touched.
  void note_file_changed() { file_changed_ = true; }

  // How long the weights stay, and why.
  Stay& stay() { return stay_; }
  const Stay& stay() const { return stay_; }

 private:
  Task<Result<>> look_at_pages(Account& account);
  Task<void> give_back_idle();
  Before before() const;

  World world_;
  NamedModel named_;
  ModelHost host_;
  Stay stay_;
  Starts starts_;
  std::uint64_t loads_learned_ = 0;
  WeightsLevel level_seen_ = WeightsLevel::kNone;
  int requests_ = 0;
  bool file_changed_ = false;
  int uses_ = 0;
  TimePoint known_since_;
  Notify request_ended_;
  std::optional<TimePoint> last_reply_at_;
};

}  // namespace hearth::front
