// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "policy/household/trace.h"

namespace hearth::household {

// The machine of a simulation: one device to read from, one memory.
struct Machine {
  Bytes memory{12'000'000'000};
  double read_bytes_per_s = 0.5e9;
  Duration setup = std::chrono::seconds{1};  // of a start without a hollow worker
  Bytes hollow{50'000'000};                  // that such a worker takes
};

// What is in memory, at one moment.
struct House {
  struct Model {
    Bytes size{};
    Bytes resident{};
    Duration busy_until{};  // by loads and requests
    Duration loaded_at{};   // the last load is, or will be, done
    Duration used_at{};     // the last request began to be served
    bool used = false;
  };

  Machine machine;
  std::vector<Model> models;
  Bytes workers{};  // taken by hollow workers
  Duration now{};

  bool busy(std::size_t model) const { return models[model].busy_until > now; }
  Bytes missing(std::size_t model) const { return models[model].size - models[model].resident; }
  Bytes held() const {
    Bytes sum = workers;
    for (const Model& model : models) sum += model.resident;
    return sum;
  }
  Bytes free() const { return machine.memory - held(); }
};

}  // namespace hearth::household
