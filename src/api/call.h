// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "front/service.h"
#include "http/server.h"

namespace hearth::api {

struct ApiOptions {
  // Names, beside the local ones, that clients may call this server by (see access.h).
  std::vector<std::string> hosts;
  const Clock* clock = &Clock::real();
};

// What a route's handler gets. The references outlive the handler's task.
struct Call {
  front::Service& service;
  http::Exchange& exchange;
  const ApiOptions& options;
  std::string argument;  // what stood in the path's {id}, decoded; empty without one

  const http::HttpRequest& request() const { return exchange.request(); }
};

}  // namespace hearth::api
