// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/rung_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size_text.h"

namespace hearth::front {
namespace {

using Promise = RungDecision::Promise;

constexpr int kMostStrikes = 6;  // then about ten hours
constexpr Duration kForgiven = std::chrono::hours{24};

std::string text_of(Duration time) { return fmt::format("{:.0f} ms", milliseconds_of(time)); }

std::vector<RungOffer> by_cost(std::span<const RungOffer> offers) {
  std::vector<RungOffer> sorted{offers.begin(), offers.end()};
  std::ranges::stable_sort(sorted, {}, &RungOffer::rung);
  return sorted;
}

const RungOffer* find(std::span<const RungOffer> offers, Rung rung) {
  const auto found = std::ranges::find(offers, rung, &RungOffer::rung);
  return found == offers.end() ? nullptr : &*found;
}

Promise promise_of(const RungOffer& offer, const WarmTerms& terms) {
  if (p95(offer.forecast) <= terms.ttft) return Promise::kMeets;
  return offer.forecast.time <= terms.ttft ? Promise::kLikely : Promise::kCannot;
}

// What `wanted` would keep and `had` does not.
std::vector<GivenUp> given_up(Rung wanted, Rung had, const std::string& why) {
  std::vector<GivenUp> layers;
  if (keeps_weights(wanted) && !keeps_weights(had)) layers.push_back({"weights", why});
  if (keeps_pins(wanted) && !keeps_pins(had)) layers.push_back({"pages", why});
  return layers;
}

}  // namespace

FloorReason RungDecision::floor_reason(HoldingKind kind) const {
  const auto floor = [](bool held) { return held ? FloorReason::kWarmBound : FloorReason::kNone; };
  switch (kind) {
    case HoldingKind::kWeights:
    case HoldingKind::kRepackedWeights:
    case HoldingKind::kDeviceWeights:
    case HoldingKind::kDeviceContext:
      return floor(keeps_weights(rung));
    case HoldingKind::kPinnedPages:
      return floor(keeps_pins(rung));
    case HoldingKind::kHollowWorker:
      return floor(rung != Rung::kNone);
    default:
      return FloorReason::kNone;
  }
}

// Of `offers`, sorted: the cheapest that meets the terms; else the one that comes nearest, if it is
// likely to; else nullptr. The most expensive one is always trusted: there is nothing beyond it.
const RungOffer* RungChoice::best(const WarmTerms& terms, std::span<const RungOffer> offers,
                                  Duration now) const {
  const RungOffer* likely = nullptr;
  for (const RungOffer& offer : offers) {
    if (!trusted(offer.rung, now) && &offer != &offers.back()) continue;
    const Promise promise = promise_of(offer, terms);
    if (promise == Promise::kMeets) return &offer;
    const bool nearer = likely == nullptr || p95(offer.forecast) < p95(likely->forecast);
    if (promise == Promise::kLikely && nearer) likely = &offer;
  }
  return likely;
}

bool RungChoice::trusted(Rung rung, Duration now) const {
  return rung > notes_.distrusted || now >= notes_.distrusted_until;
}

RungDecision RungChoice::choose(const WarmTerms& terms, std::span<const RungOffer> offers,
                                const RungSigns& signs, Duration now) {
  note_harm(signs, now);
  const std::vector<RungOffer> all = by_cost(offers);
  std::vector<RungOffer> allowed = all;
  const bool held_off = held_off_until_ && now < *held_off_until_;
  std::erase_if(allowed, [&](const RungOffer& offer) {
    return offer.holds > (held_off ? Bytes{} : signs.room);
  });
  const RungOffer* wanted = best(terms, all, now);
  const RungOffer* had = settle(best(terms, allowed, now), allowed, terms, now);
  current_ = had == nullptr ? Rung::kNone : had->rung;

  RungDecision decision;
  decision.rung = current_;
  const RungOffer* shown = had != nullptr ? had : allowed.empty() ? nullptr : &allowed.front();
  if (shown != nullptr) decision.bound = p95(shown->forecast);
  if (had != nullptr) {
    decision.promise = promise_of(*had, terms);
    decision.holds = had->holds;
  }
  if (wanted != nullptr && find(allowed, wanted->rung) == nullptr) {
    const std::string why = held_off ? held_off_why_
                                     : fmt::format("{} would be held and {} may be",
                                                   size_text(wanted->holds), size_text(signs.room));
    decision.given_up = given_up(wanted->rung, current_, why);
  }
  decision.reason = reason(decision, terms, all);
  return decision;
}

std::string RungChoice::reason(const RungDecision& decision, const WarmTerms& terms,
                               std::span<const RungOffer> all) const {
  const std::string bound = text_of(decision.bound), wish = text_of(terms.ttft);
  if (decision.rung != Rung::kNone && decision.promise == Promise::kMeets) {
    return fmt::format("{} answers within {}, and {} is asked for", name_of(decision.rung), bound,
                       wish);
  }
  if (!decision.given_up.empty()) {
    return fmt::format("{} given up: {}", decision.given_up.front().layer,
                       decision.given_up.front().why);
  }
  if (all.empty()) return "there is no way to keep it warm now";
  if (decision.rung != Rung::kNone) {
    return fmt::format("{} is likely to answer within {}, but may take {}", name_of(decision.rung),
                       wish, bound);
  }
  const auto nearest =
      std::ranges::min_element(all, {}, [](const RungOffer& offer) { return p95(offer.forecast); });
  return fmt::format("{} cannot be met: {} would take up to {}", wish, name_of(nearest->rung),
                     text_of(p95(nearest->forecast)));
}

// Up at once, and down at once from what may not be had; else only after a while.
const RungOffer* RungChoice::settle(const RungOffer* wish, std::span<const RungOffer> allowed,
                                    const WarmTerms& terms, Duration now) {
  const Rung to = wish == nullptr ? Rung::kNone : wish->rung;
  const RungOffer* current = find(allowed, current_);
  if (current == nullptr || to >= current_) {
    cheaper_since_.reset();
    return wish;
  }
  const Duration enough{
      static_cast<std::int64_t>(kSpare * static_cast<double>(terms.ttft.count()))};
  if (wish != nullptr && p95(wish->forecast) > enough) {
    cheaper_since_.reset();
    return current;
  }
  if (!cheaper_since_) cheaper_since_ = now;
  if (now - *cheaper_since_ < kBeforeDown) return current;
  cheaper_since_.reset();
  return wish;
}

void RungChoice::note_harm(const RungSigns& signs, Duration now) {
  if (!signs.harmed.empty()) {
    hold_off(signs.harmed, now);
  } else if (current_ != Rung::kNone && signs.psi_rise > IdlePeriod::kMostPsiRise) {
    hold_off(fmt::format("memory pressure rose by {:.1f} percent points", signs.psi_rise), now);
  }
}

// Each time within a day that it comes to that, it lasts twice as long.
void RungChoice::hold_off(std::string why, Duration now) {
  if (!held_off_until_ || now - *held_off_until_ > kForgiven) {
    strikes_ = 0;
  } else if (now >= *held_off_until_) {
    strikes_ = std::min(strikes_ + 1, kMostStrikes);
  }
  const Duration until = now + kAfterHarm * (1 << strikes_);
  held_off_until_ = std::max(held_off_until_.value_or(until), until);
  held_off_why_ = std::move(why);
}

void RungChoice::missed(Rung rung, Duration now) {
  if (rung == Rung::kNone) return;
  if (rung >= notes_.distrusted || now >= notes_.distrusted_until) notes_.distrusted = rung;
  notes_.distrusted_until = now + kDistrust;
}

void RungChoice::gave_way(const std::string& why, Duration now) { hold_off(why, now); }

}  // namespace hearth::front
