// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "cli/api_client.h"
#include "cli/top_state.h"

namespace hearth::cli {

// Keeps a TopState as the server is: reads everything once, then follows live events on threads of
// its own, and comes back by itself when the server was away. Asks for nothing that is a use of a
// model. Threads that wait for the server when this object goes are left behind; they touch nothing
// but what they share among themselves.
class TopFeed {
 public:
  explicit TopFeed(ApiClient api);
  ~TopFeed();
  TopFeed(const TopFeed&) = delete;
  TopFeed& operator=(const TopFeed&) = delete;

  // Everything, now. Errors: those of the API; what the key may not see is one.
  Result<> load();

  // From now on by itself. Once.
  void start();

  TopState state() const;
  // Why it has given up: a key that is not good any more. None while it goes on.
  std::optional<Error> given_up() const;
  // Readable when state() or given_up() may have changed; forget_changes() makes it wait again.
  int changes() const;
  void forget_changes();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // this object and its threads, whoever ends last
};

// This moment, on real clocks.
TopMoment top_moment();

}  // namespace hearth::cli
