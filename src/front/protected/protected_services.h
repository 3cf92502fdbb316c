// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/event_loop.h"
#include "base/pool.h"
#include "base/sync.h"
#include "front/config/protected_options.h"
#include "front/protected/give_way.h"
#include "front/protected/probe.h"
#include "front/protected/protected_service.h"
#include "front/protected/service_source.h"

namespace hearth::front {

// Services that come first: it watches those that the configuration names and says what Hearth has
// to give up for them. Belongs to the loop; procfs and cgroup files are read in the pool, and
// probes have threads of their own.
class ProtectedServices {
 public:
  using Options = std::map<std::string, ProtectedOptions>;  // by name

  struct World {
    EventLoop& loop;
    Pool& pool;
    ServiceRoots roots;  // /proc and /sys/fs/cgroup
    MakeProbe make_probe;
    const Clock& clock = Clock::real();  // of wall time
    int threads = 1;                     // that evaluate when nobody is harmed
    // Whether Hearth evaluates, loads or reads anything now, or has since this was asked last.
    std::function<bool()> busy;
    // Something that given(), json() or reason() say has changed. Not called from within set() or
    // stop().
    std::function<void()> on_change = [] {};
  };
  explicit ProtectedServices(World world);
  ~ProtectedServices();  // after stop(), unless it was never started

  // Which services there are. What is known of those that stay as they are is kept; one that has
  // gone from the list is given nothing from now on.
  void set(const Options& options);

  void start();
  // Gives nothing any more. Returns when nothing is being read or asked any more.
  Task<void> stop();

  // For all services together.
  GiveWay given() const;
  // Likewise, for workers. Where there is a service that may be harmed, evaluation goes behind
  // others before it is: harm is seen only after it was done.
  wire::GiveWayMessage give_way() const;
  bool may_prewarm() const { return given().prewarm; }
  bool wants_memory() const { return given().memory; }
  bool may_release_pins() const { return given().pins; }

  // One sentence for people: who is given way to, and why; empty: nobody is.
  std::string reason() const;

  // The published bound, as an array: [{"name", "kind": "process|cgroup|url", "state":
  // "well|harmed|unknown|gone", "baseline_ms", "p99_ms", "psi" (percent, of the resource that it
  // waits for most), "limit_percent", "since_us" (wall time of the last change of state),
  // "gave_way": ["threads", ...], "reason"}]. What is not known is null.
  std::string json() const;

 private:
  struct Reading;

  ProtectedService::Means means_for(const std::string& name, const ProtectedOptions& options) const;
  HarmJudge::Hearth hearth();
  Task<void> watch();
  Task<void> ask(std::shared_ptr<ProtectedService> service);
  void begin_asking(const std::shared_ptr<ProtectedService>& service);
  std::vector<Reading> to_read() const;
  void look(const std::vector<Reading>& readings);
  void tell();

  World world_;
  // A service is also its asking task's and, while it is read, the job's that reads it.
  std::map<std::string, std::shared_ptr<ProtectedService>> services_;
  Gate gate_;
  Notify woken_;
  bool running_ = false;
  TimePoint busy_until_;
  std::string told_;
};

}  // namespace hearth::front
