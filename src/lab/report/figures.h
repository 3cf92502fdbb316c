// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "lab/trial.h"

namespace hearth::lab {

enum class FigureUnit {
  kMilliseconds,
  kSeconds,
  kBytes,
  kShare,
  kCount,
  kPerSecond,
  kMegahertz,
  kJoules
};

// One number of a row, as reports show it.
struct Figure {
  std::string name;     // "wait_ms"
  std::string heading;  // "wait", for people
  FigureUnit unit;
  enum class Of { kTiming, kEffects, kProof } of;
  std::function<std::optional<double>(const Trial&)> read;
};

// In the order in which tables have them.
std::span<const Figure> all_figures();

// What a row's proof says in words, by name: "pages_by", "mapped" ("yes", "no"), and what the
// server told of its layers: "told.weights". What could not be observed is missing.
std::map<std::string, std::string> proof_words(const Trial& trial);

// A value with its unit, three digits: "1.23 s", "412 MiB", "87 %".
std::string figure_text(FigureUnit unit, double value);
std::string milliseconds_text(double ms);
// A round value without the digits that would be zeros: "0", "300 ms", "2 s", "2.5 s".
std::string tick_text(double ms);

}  // namespace hearth::lab
