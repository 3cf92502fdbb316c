// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/sync.h"
#include "http/admission.h"
#include "http/body_budget.h"
#include "http/connection.h"
#include "http/server.h"

namespace hearth::http {

// What the sessions of one server have in common. Shared by the server and by each session, because
// a session ends in its own time.
struct ServerCore {
  ServerCore(AsioEventLoop& l, ServerConfig c, Server::Handler h)
      : loop{l},
        config{std::move(c)},
        handler{std::move(h)},
        admission{{config.max_connections, config.max_connections_per_address, config.yield_after}},
        bodies{std::max(config.max_bodies, config.max_body)},
        changed{l} {}

  AsioEventLoop& loop;
  const ServerConfig config;
  const Server::Handler handler;
  bool stopping = false;
  std::unordered_set<std::shared_ptr<Connection>> connections;
  Admission admission;
  BodyBudget bodies;
  int refusing = 0;  // those of `connections` that only get a 503
  Notify changed;    // a connection has ended
  std::vector<char> scratch = std::vector<char>(64 << 10);
};

// The life of one connection: requests in order, until one side has had enough.
Task<void> serve(std::shared_ptr<ServerCore> core, std::shared_ptr<Connection> connection,
                 std::unique_ptr<Admission::Place> place);

// Tells a connection that is one too many so.
Task<void> refuse(std::shared_ptr<ServerCore> core, std::shared_ptr<Connection> connection);

}  // namespace hearth::http
