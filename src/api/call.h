// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/errors.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "front/service.h"
#include "http/server.h"

namespace hearth::api {

namespace responses {
class KeptResponses;
}

struct ApiOptions {
  const Clock* clock = &Clock::real();
  // Where replies of /v1/responses are kept; null: nowhere.
  responses::KeptResponses* responses = nullptr;
  EventLoop* loop = nullptr;  // what handlers run on; only requests for several replies need it
};

// Who sent a request. Where the server has no keys, everybody is its admin.
struct Caller {
  std::string key;  // the id of the key that was shown; empty without one
  front::Role role = front::Role::kAdmin;
};

// What a route's handler gets. The references outlive the handler's task.
struct Call {
  front::Service& service;
  http::Exchange& exchange;
  const ApiOptions& options;
  Dialect dialect;
  Caller caller;
  std::string argument;  // what stood in the path's {id}, decoded; empty without one

  const http::HttpRequest& request() const { return exchange.request(); }
};

inline Audience audience_of(const Call& call) {
  return call.caller.role == front::Role::kAdmin && call.dialect == Dialect::kHearth
             ? Audience::kAdmin
             : Audience::kClients;
}

}  // namespace hearth::api
