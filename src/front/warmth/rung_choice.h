// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "front/warmth/rung.h"
#include "front/warmth/warm_claim.h"
#include "policy/holding.h"

namespace hearth::front {

// A layer that is not held although the terms would need it.
struct GivenUp {
  std::string layer;  // "weights", "pages"
  std::string why;    // "memory was wanted by qwen-9b"
  friend bool operator==(const GivenUp&, const GivenUp&) = default;
};

struct RungDecision {
  Rung rung = Rung::kNone;
  // kMeets: p95() of the rung is within T. kLikely: the forecast itself is, its p95 not. kCannot:
  // no rung that may be had is within T, so none is paid for: `rung` is kNone.
  enum class Promise { kMeets, kLikely, kCannot };
  Promise promise = Promise::kCannot;
  Duration bound{};  // p95() at this rung; with kNone: at the cheapest there is
  Bytes holds{};
  std::vector<GivenUp> given_up{};
  std::string reason{};  // a sentence for people

  // What a Holding of this kind may not go below, and why.
  FloorReason floor_reason(HoldingKind kind) const;
};

struct RungSigns {
  std::string harmed{};  // which protected service is harmed, as a sentence; empty: none
  Bytes room{};          // that the model may hold, what it holds already included
  double psi_rise = 0;   // since it is held; percent points
};

// Chooses the cheapest rung that meets the terms. It goes up at once; down when a cheaper one has
// been good enough for a while, with something to spare; and to what costs nobody as soon as a
// protected service is harmed, memory's pressure has risen, or what it held was taken. A rung that
// missed in spite of its forecast is not believed for a week. Pure; times are of a LastingTime.
class RungChoice {
 public:
  struct Notes {
    Rung distrusted = Rung::kNone;  // it and all cheaper ones, ...
    Duration distrusted_until{};
  };

  RungChoice() = default;
  explicit RungChoice(Notes notes) : notes_{notes} {}

  // `offers` in any order; a rung that is not offered cannot be had.
  RungDecision choose(const WarmTerms& terms, std::span<const RungOffer> offers,
                      const RungSigns& signs, Duration now);

  // It stood there, and the idle period's first token came too late all the same.
  void missed(Rung rung, Duration now);
  // Something that it held was taken away: "memory was wanted by qwen-9b".
  void gave_way(const std::string& why, Duration now);

  const Notes& notes() const { return notes_; }

  static constexpr Duration kBeforeDown = std::chrono::hours{1};
  static constexpr Duration kAfterHarm = std::chrono::minutes{10};
  static constexpr Duration kDistrust = std::chrono::hours{7 * 24};
  static constexpr double kSpare = 0.8;  // of T, for a way down

 private:
  bool trusted(Rung rung, Duration now) const;
  const RungOffer* best(const WarmTerms& terms, std::span<const RungOffer> offers,
                        Duration now) const;
  const RungOffer* settle(const RungOffer* wish, std::span<const RungOffer> allowed,
                          const WarmTerms& terms, Duration now);
  void note_harm(const RungSigns& signs, Duration now);
  void hold_off(std::string why, Duration now);
  std::string reason(const RungDecision& decision, const WarmTerms& terms,
                     std::span<const RungOffer> all) const;

  Notes notes_;
  Rung current_ = Rung::kNone;
  std::optional<Duration> cheaper_since_{};
  std::optional<Duration> held_off_until_{};  // until then nothing is held
  std::string held_off_why_;
  int strikes_ = 0;
};

}  // namespace hearth::front
