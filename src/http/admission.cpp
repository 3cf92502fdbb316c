// SPDX-License-Identifier: Apache-2.0
#include "http/admission.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hearth::http {

Admission::Place::Place(Admission& admission, Connection& connection, std::string host)
    : admission_{admission}, connection_{connection}, host_{std::move(host)} {
  ++admission_.count_;
  if (!host_.empty()) ++admission_.by_host_[host_];
}

Admission::Place::~Place() { give_up(); }

void Admission::Place::give_up() {
  become_busy();
  if (std::exchange(given_up_, true)) return;
  --admission_.count_;
  const auto host = admission_.by_host_.find(host_);
  if (host != admission_.by_host_.end() && --host->second == 0) admission_.by_host_.erase(host);
}

void Admission::Place::become_idle(TimePoint now) {
  if (idle_ || given_up_) return;
  idle_since_ = now;
  idle_ = admission_.idle_.insert(admission_.idle_.end(), this);
}

void Admission::Place::become_busy() {
  if (idle_) admission_.idle_.erase(*std::exchange(idle_, std::nullopt));
}

int Admission::count_of(const std::string& host) const {
  const auto found = by_host_.find(host);
  return found == by_host_.end() ? 0 : found->second;
}

bool Admission::is_full(const std::string& host) const {
  return limits_.per_address > 0 && !host.empty() && count_of(host) >= limits_.per_address;
}

// Cuts one connection; of `host`, unless that is empty.
bool Admission::make_room(const std::string& host, TimePoint now) {
  const auto found = std::ranges::find_if(idle_, [&](const Place* place) {
    return now - place->idle_since_ >= limits_.yield_after &&
           (host.empty() || place->host_ == host) && !place->connection_.has_unread();
  });
  if (found == idle_.end()) return false;
  Place& place = **found;
  log::debug("http.idle_gave_way", {{"peer", place.connection_.peer()}});
  place.give_up();
  place.connection_.cut();
  return true;
}

std::unique_ptr<Admission::Place> Admission::admit(Connection& connection, const Address& peer,
                                                   TimePoint now) {
  std::string host = peer.is_loopback() ? std::string{} : peer.network();
  if (is_full(host) && !make_room(host, now)) return nullptr;
  if (count_ >= limits_.total && !make_room({}, now)) return nullptr;
  return std::make_unique<Place>(*this, connection, std::move(host));
}

}  // namespace hearth::http
