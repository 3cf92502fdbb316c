// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/warm_claim.h"

#include <algorithm>
#include <utility>

#include "front/warmth/wilson.h"

namespace hearth::front {

std::string_view name_of(WarmKind kind) { return kind == WarmKind::kProbe ? "probe" : "request"; }

std::string_view name_of(WarmState state) {
  switch (state) {
    case WarmState::kUnknown:
      return "unknown";
    case WarmState::kHolding:
      return "holding";
    case WarmState::kProved:
      return "proved";
    case WarmState::kMissed:
      return "missed";
  }
  return "unknown";
}

Duration FirstToken::for_short_prompt() const {
  const Duration beyond =
      std::clamp(forecast - forecast_of_short, Duration{}, std::max(Duration{}, evaluated));
  return std::max(Duration{}, time - beyond);
}

WarmClaim::WarmClaim(WarmTerms terms, Notes notes) : terms_{terms}, notes_{std::move(notes)} {
  while (notes_.periods.size() > kMost) notes_.periods.pop_front();
}

void WarmClaim::set_terms(WarmTerms terms) { terms_ = terms; }

void WarmClaim::observe(double psi_rise, Others others) {
  psi_rise_ = std::max(psi_rise_, psi_rise);
  harmed_ = harmed_ || others == Others::kHarmed;
}

bool WarmClaim::answered(const FirstToken& token, WarmKind kind, Duration now, std::int64_t at_us) {
  IdlePeriod period;
  period.at_us = at_us;
  period.ttft = token.for_short_prompt();
  period.kind = kind;
  return add(period, now - token.since - token.time, now);
}

bool WarmClaim::gave_up(const FirstToken& so_far, WarmKind kind, Duration now, std::int64_t at_us) {
  IdlePeriod period;
  period.at_us = at_us;
  period.kind = kind;
  if (kind == WarmKind::kRequest && so_far.for_short_prompt() <= terms_.ttft) {
    left(now);  // it might have been in time
    return false;
  }
  return add(period, now - so_far.time, now);
}

bool WarmClaim::add(IdlePeriod period, Duration begun, Duration now) {
  period.gap = notes_.touched ? std::max(Duration{}, begun - *notes_.touched) : Duration{};
  const bool ends = notes_.touched && period.gap >= terms_.gap;
  if (ends) {
    period.psi_rise = psi_rise_;
    period.harmed = harmed_;
    notes_.periods.push_back(period);
    if (notes_.periods.size() > kMost) notes_.periods.pop_front();
  }
  touch(now);
  notes_.probed = period.kind == WarmKind::kProbe;
  return ends;
}

void WarmClaim::left(Duration now) {
  touch(now);
  notes_.probed = false;
}

void WarmClaim::touch(Duration now) {
  notes_.touched = std::max(notes_.touched.value_or(Duration{}), now);
  psi_rise_ = 0;
  harmed_ = false;
}

bool WarmClaim::wants_probe(Duration now) const {
  return notes_.touched && !notes_.probed && idle(now) >= terms_.gap;
}

Duration WarmClaim::idle(Duration now) const {
  return notes_.touched ? std::max(Duration{}, now - *notes_.touched) : Duration{};
}

WarmVerdict WarmClaim::verdict() const {
  WarmVerdict verdict;
  for (const IdlePeriod& period : notes_.periods) {
    if (period.gap < terms_.gap) continue;
    ++verdict.of;
    if (period.met(terms_)) ++verdict.met;
  }
  verdict.wilson_low = wilson_low(verdict.met, verdict.of);
  if (verdict.of == 0) return verdict;
  if (verdict.of >= kLeast && verdict.wilson_low >= kShare) {
    verdict.state = WarmState::kProved;
  } else {
    verdict.state = verdict.met == verdict.of ? WarmState::kHolding : WarmState::kMissed;
  }
  return verdict;
}

std::optional<IdlePeriod> WarmClaim::last() const {
  for (auto period = notes_.periods.rbegin(); period != notes_.periods.rend(); ++period) {
    if (period->gap >= terms_.gap) return *period;
  }
  return std::nullopt;
}

}  // namespace hearth::front
