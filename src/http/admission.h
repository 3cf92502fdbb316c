// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "http/address.h"
#include "http/connection.h"

namespace hearth::http {

// Who may be connected. When there is no room, the connection that has been idle longest (between
// two requests, or without a byte so far) is cut for the newcomer: whoever wants something goes
// before whoever only holds a place. Nobody is cut who was idle for less than `yield_after` or has
// sent something that is not read yet.
//
// Belongs to the loop; outlives its places.
class Admission {
 public:
  struct Limits {
    int total = 0;
    int per_address = 0;  // see Address::network(); loopback is not counted; 0: no limit
    std::chrono::milliseconds yield_after{};
  };

  // A connection's right to be here, up to its destructor. It is idle or busy, at first busy.
  class Place {
   public:
    Place(Admission& admission, Connection& connection, std::string host);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    void become_idle(TimePoint now);
    void become_busy();

   private:
    friend class Admission;
    void give_up();

    Admission& admission_;
    Connection& connection_;
    std::string host_;  // empty: not counted by address
    std::optional<std::list<Place*>::iterator> idle_;
    TimePoint idle_since_{};
    bool given_up_ = false;
  };

  explicit Admission(Limits limits) : limits_{limits} {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Null when there is no room and nobody to make some. `connection` outlives the place.
  std::unique_ptr<Place> admit(Connection& connection, const Address& peer, TimePoint now);

  int count() const { return count_; }

 private:
  bool make_room(const std::string& host, TimePoint now);
  bool is_full(const std::string& host) const;
  int count_of(const std::string& host) const;

  const Limits limits_;
  int count_ = 0;
  std::unordered_map<std::string, int> by_host_;
  std::list<Place*> idle_;  // longest first
};

}  // namespace hearth::http
