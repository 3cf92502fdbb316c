// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/arrival_book.h"

#include <algorithm>
#include <utility>

namespace hearth::front {

void ArrivalBook::note(const std::string& artifact, const Instant& at) {
  if (!all_.contains(artifact)) make_room(at);
  all_[artifact].note(at);
  ++version_;
}

// The one that has not been asked for for longest goes.
void ArrivalBook::make_room(const Instant& now) {
  if (all_.size() < kMaxArrivalModels) return;
  all_.erase(std::ranges::max_element(all_, [&now](const auto& a, const auto& b) {
    return a.second.silence(now) < b.second.silence(now);
  }));
}

void ArrivalBook::observe(const Instant& now) {
  for (auto& [artifact, model] : all_) model.observe(now);
}

void ArrivalBook::rename(const std::string& from, const std::string& to) {
  if (from == to || !all_.contains(from)) return;
  all_.erase(to);
  auto page = all_.extract(from);
  page.key() = to;
  all_.insert(std::move(page));
  ++version_;
}

void ArrivalBook::forget(const std::string& artifact) { version_ += all_.erase(artifact); }

double ArrivalBook::probability(const std::string& artifact, const Instant& now,
                                Duration within) const {
  const ArrivalModel* model = find(artifact);
  return model == nullptr ? 0 : model->probability(now, within);
}

double ArrivalBook::expected_per_hour(const std::string& artifact, const Instant& now,
                                      Duration within) const {
  const ArrivalModel* model = find(artifact);
  return model == nullptr ? 0 : model->expected_per_hour(now, within);
}

std::optional<NextArrival> ArrivalBook::next(const std::string& artifact,
                                             const Instant& now) const {
  const ArrivalModel* model = find(artifact);
  return model == nullptr ? std::nullopt : model->next(now);
}

const ArrivalModel* ArrivalBook::find(const std::string& artifact) const {
  const auto found = all_.find(artifact);
  return found == all_.end() ? nullptr : &found->second;
}

void ArrivalBook::take(Arrivals all) { all_ = std::move(all); }

}  // namespace hearth::front
