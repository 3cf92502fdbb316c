// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "front/verify/model_check.h"
#include "front/verify/verify_run.h"
#include "timeline/metrics.h"

namespace hearth::front {

// Reads models' content: when somebody asks, and by itself, to learn what is not known yet and to
// find what has rotted. One file at a time; what nobody waits for goes on only while no request is
// under way, and gives way to what somebody asked for. Belongs to the loop; stop() before
// destroying it.
class Verifier {
 public:
  struct World {
    ModelCheck::World check;
    const Clock& clock;
    Metrics& metrics;
    std::function<bool()> busy;        // some request is under way
    std::function<int()> verify_days;  // 0: nothing is read again unasked
    // Makes a rotten model good by fetching what is bad of it once more; returns what came over the
    // network. `run` is told how it goes. Empty: nobody can.
    std::function<Task<Result<Bytes>>(NamedModel model, ModelCheck::Checked checked,
                                      std::shared_ptr<VerifyRun> run)>
        repair;
  };

  explicit Verifier(World world);
  ~Verifier();

  // What it does by itself begins.
  void start();
  Task<void> stop();

  // `request.model`: a name of the catalogue, or empty.
  std::unique_ptr<Transfer> verify(VerifyRequest request);

  // No request for so long before anything is read unasked.
  static constexpr std::chrono::seconds kQuiet{2};

 private:
  using RunKey = std::pair<std::string, bool>;
  class Unasked;
  class Turn;

  static RunKey key_of(const VerifyRequest& request) { return {request.model, request.repair}; }
  Result<std::vector<std::string>> models_of(const VerifyRequest& request) const;
  Task<void> work(std::shared_ptr<VerifyRun> run, std::vector<std::string> keys);
  Task<Result<>> work_through(std::shared_ptr<VerifyRun> run, std::vector<std::string> keys);
  Task<Result<ModelCheck::Checked>> check_one(std::shared_ptr<VerifyRun> run, std::string key,
                                              std::int64_t since_us);
  Task<void> repair_one(std::shared_ptr<VerifyRun> run, std::string key,
                        ModelCheck::Checked& checked);
  Task<std::int64_t> begin_all();
  Task<void> end_all();
  Task<Turn> take_turn();
  void note(const ModelCheck::Checked& checked);

  Task<void> work_unasked();
  Task<void> check_unasked(std::string key);
  TimePoint now() const;
  bool is_quiet();
  bool is_due(const NamedModel& model) const;
  const NamedModel* next_due() const;

  World world_;
  ModelCheck check_;
  Notify changed_;
  Gate tasks_;
  std::map<RunKey, std::shared_ptr<VerifyRun>> runs_;
  int asked_ = 0;         // models that somebody waits for, being read or in line
  bool reading_ = false;  // somebody has the turn
  bool stopping_ = false;
  TimePoint busy_at_;                            // when a request was seen last
  std::map<std::string, TimePoint> not_before_;  // by name: when to read it unasked again
};

}  // namespace hearth::front
