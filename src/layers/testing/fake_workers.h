// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/sim_event_loop.h"
#include "layers/weights/workers.h"

namespace hearth::testing {

// Workers that load in two seconds of virtual time, or fail to when told so.
class FakeWorkers : public Workers {
 public:
  explicit FakeWorkers(SimEventLoop& loop) : loop_{loop} {}

  std::optional<WorkerState> state(const Subject& subject) const override {
    const auto found = states.find(subject.artifact + "|" + subject.options);
    if (found == states.end()) return std::nullopt;
    return found->second;
  }

  Task<Result<>> load(Subject subject, Progress& progress) override {
    WorkerState& worker = states[subject.artifact + "|" + subject.options];
    worker.level = WorkerLevel::kLoading;
    worker.loading_fraction = 0.25;
    ++loads;
    co_await loop_.sleep(std::chrono::seconds{2});
    if (fails) {
      worker = WorkerState{};
      co_return fail(ErrorCode::kUnavailable, "the worker died");
    }
    progress.report(Bytes{1000}, Bytes{1000});
    worker.level = WorkerLevel::kResident;
    worker.memory = WorkerMemory{Bytes{1000}, Bytes{400}, Bytes{50}, Bytes{5}};
    co_return Result<>{};
  }

  Task<Result<Bytes>> unload(Subject subject) override {
    WorkerState& worker = states[subject.artifact + "|" + subject.options];
    worker = WorkerState{};
    worker.level = WorkerLevel::kHollow;
    co_return Bytes{1000};
  }

  std::map<std::string, WorkerState> states;  // by artifact|options
  int loads = 0;
  bool fails = false;

 private:
  SimEventLoop& loop_;
};

}  // namespace hearth::testing
