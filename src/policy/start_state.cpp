// SPDX-License-Identifier: Apache-2.0
#include "policy/start_state.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hearth {
namespace {

using namespace literals;

constexpr std::array<std::string_view, kStartClasses> kNames{
    "warm", "beside", "loading", "load-cold", "storage-cold", "spawn-cold"};

}  // namespace

std::string_view name_of(StartClass start_class) {
  return kNames[static_cast<std::size_t>(start_class)];
}

std::optional<StartClass> start_class_named(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<StartClass>(found - kNames.begin());
}

StartClass class_of(const StartState& state) {
  using Worker = StartState::Worker;
  if (state.worker == Worker::kLoading) return StartClass::kLoading;
  if (state.worker == Worker::kResident) {
    return state.beside > 0 ? StartClass::kBeside : StartClass::kWarm;
  }
  // As for replies: tables and read-ahead are read even where all that matters is in memory.
  const Bytes unremarkable = std::max(1_MiB, Bytes{state.load_set.count() / 100});
  if (!state.pages_known || state.missing > unremarkable) return StartClass::kStorage;
  return state.worker == Worker::kNone ? StartClass::kSpawn : StartClass::kLoad;
}

}  // namespace hearth
