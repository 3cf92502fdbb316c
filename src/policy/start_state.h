// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth {

// What a model's next first token will have to wait for. Classes differ in what can go wrong with
// a forecast, so each learns by itself.
enum class StartClass {
  kWarm,     // weights are resident, nobody else is being served
  kBeside,   // likewise, beside other requests
  kLoading,  // a load is under way
  kLoad,     // weights come out of pages in memory
  kStorage,  // more must be read than a load of resident files reads
  kSpawn,    // as kLoad, and the worker must be started first
};
inline constexpr int kStartClasses = 6;

// "warm", "beside", "loading", "load-cold", "storage-cold", "spawn-cold"
std::string_view name_of(StartClass start_class);
std::optional<StartClass> start_class_named(std::string_view name);

// All that a forecast goes by: the layers as they were last observed, and the sizes that matter.
struct StartState {
  enum class Worker { kNone, kHollow, kLoading, kResident };
  enum class Repack { kNone, kStored, kBuild };

  Worker worker = Worker::kNone;
  Duration load_left{};                      // with kLoading: until the weights are there
  Bytes weights{};                           // what evaluating a token goes through
  Bytes load_set{};                          // what a load maps or reads
  Bytes missing{};                           // of it, not in memory
  bool pages_known = false;                  // somebody has looked
  std::optional<double> read_bytes_per_s{};  // of the device, as measured
  Repack repack = Repack::kNone;
  Bytes repacked{};  // with kBuild: what must be brought into that form
  Bytes context{};   // KV cells and compute buffers
  // Evaluation begins while weights still come, so that only one of so many parts is not hidden
  // behind the longer of the two; 1: one after the other.
  int layers = 1;
  int vocabulary = 0;  // tokens
  int beside = 0;      // other requests in the worker's hands
};

// Pure.
StartClass class_of(const StartState& state);

}  // namespace hearth
