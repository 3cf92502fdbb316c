// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>
#include <utility>

#include "front/warmth/warm_keeper.h"
#include "front/warmth/warm_model.h"

namespace hearth::front {
namespace json = boost::json;
namespace {

constexpr std::size_t kShown = 5;

double seconds_of(Duration time) { return milliseconds_of(time) / 1000; }

std::string_view name_of(RungDecision::Promise promise) {
  switch (promise) {
    case RungDecision::Promise::kMeets:
      return "meets";
    case RungDecision::Promise::kLikely:
      return "likely";
    case RungDecision::Promise::kCannot:
      return "cannot";
  }
  return "cannot";
}

json::array last_of(const WarmClaim& claim) {
  json::array last;
  const auto& periods = claim.notes().periods;
  for (auto period = periods.rbegin(); period != periods.rend() && last.size() < kShown; ++period) {
    if (period->gap < claim.terms().gap) continue;
    last.push_back(json::object{
        {"at_us", period->at_us},
        {"gap_s", seconds_of(period->gap)},
        {"ttft_ms", period->ttft ? json::value(milliseconds_of(*period->ttft)) : json::value()},
        {"met", period->met(claim.terms())},
        {"kind", hearth::front::name_of(period->kind)},
        {"psi_rise", period->psi_rise},
        {"harmed", period->harmed}});
  }
  return last;
}

// Of the start as things are.
std::optional<Duration> bound_of(const std::optional<RungDecision>& decision,
                                 const std::optional<Forecast>& as_it_is) {
  if (as_it_is) return p95(*as_it_is);
  if (decision && decision->bound > Duration{}) return decision->bound;
  return std::nullopt;
}

// That, and what stands in the way of a better one.
void add_bound(json::object& object, const std::optional<RungDecision>& decision,
               const std::optional<Forecast>& as_it_is) {
  json::array given_up;
  if (decision) {
    for (const GivenUp& layer : decision->given_up) {
      given_up.push_back(json::object{{"layer", layer.layer}, {"why", layer.why}});
    }
  }
  const std::optional<Duration> bound = bound_of(decision, as_it_is);
  object["bound_ms"] = bound ? json::value(milliseconds_of(*bound)) : json::value();
  object["rung"] = hearth::front::name_of(decision ? decision->rung : Rung::kNone);
  object["promise"] = decision ? json::value(name_of(decision->promise)) : json::value();
  object["reason"] = decision ? json::value(decision->reason) : json::value();
  object["given_up"] = std::move(given_up);
}

}  // namespace

std::optional<WarmBound> WarmKeeper::bound(const std::string& artifact) const {
  const Model* model = find(artifact);
  if (model == nullptr) return std::nullopt;
  const std::optional<Duration> bound = bound_of(model->decision, model->as_it_is);
  const Duration wanted = model->claim.terms().ttft;
  if (!bound || *bound <= wanted) return std::nullopt;
  std::string why;
  if (model->decision) {
    why = model->decision->reason;
    for (const GivenUp& layer : model->decision->given_up) {
      why += (why.empty() ? "" : "; ") + layer.layer + ": " + layer.why;
    }
  }
  return WarmBound{wanted, *bound, std::move(why)};
}

std::string WarmKeeper::json(const std::string& artifact) const {
  const Model* model = find(artifact);
  if (model == nullptr) return "null";
  const WarmClaim& claim = model->claim;
  const WarmVerdict verdict = claim.verdict();
  json::object object{{"ttft_ms", milliseconds_of(claim.terms().ttft)},
                      {"idle_gap_s", seconds_of(claim.terms().gap)},
                      {"state", hearth::front::name_of(verdict.state)},
                      {"met", verdict.met},
                      {"of", verdict.of},
                      {"wilson_low", verdict.wilson_low},
                      {"stands", hearth::front::name_of(model->stands)},
                      {"idle_s", seconds_of(claim.idle(now()))}};
  add_bound(object, model->decision, model->as_it_is);
  object["last"] = last_of(claim);
  const bool probed = claim.notes().probed;
  const Duration left = std::max(Duration{}, claim.terms().gap - claim.idle(now()));
  const std::int64_t due_us = world_.moments.wall_us() +
                              std::chrono::duration_cast<std::chrono::microseconds>(left).count();
  object["probe"] = json::object{
      {"due_us", probed ? json::value() : json::value(due_us)},
      {"error", model->probe_error.empty() ? json::value() : json::value(model->probe_error)}};
  return json::serialize(object);
}

}  // namespace hearth::front
