// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "policy/arrivals_json.h"

namespace hearth::front {

// When each model has been asked for, and what that says of the next time; by artifact id. A model
// nobody ever asked for has no page. Belongs to the loop; see HabitFile for how it is kept.
class ArrivalBook {
 public:
  // A request came that wants the model's weights.
  void note(const std::string& artifact, const Instant& at);
  // Nothing more came up to now. To be called more often than once in ArrivalModel::kWatch.
  void observe(const Instant& now);

  // Its file was replaced: the habits stay. What was known of `to` goes.
  void rename(const std::string& from, const std::string& to);
  void forget(const std::string& artifact);

  // As ArrivalModel says; of a model without a page 0 or nullopt.
  double probability(const std::string& artifact, const Instant& now, Duration within) const;
  double expected_per_hour(const std::string& artifact, const Instant& now, Duration within) const;
  std::optional<NextArrival> next(const std::string& artifact, const Instant& now) const;

  const ArrivalModel* find(const std::string& artifact) const;
  const Arrivals& all() const { return all_; }
  void take(Arrivals all);

  // Grows with whatever is worth being kept: not with observe().
  std::uint64_t version() const { return version_; }

 private:
  void make_room(const Instant& now);

  Arrivals all_;
  std::uint64_t version_ = 0;
};

}  // namespace hearth::front
