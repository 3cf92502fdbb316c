// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/reply.h"
#include "http/server.h"

namespace hearth::api {

// While it lives, a client that goes away cancels the reply. Both are references that outlive it.
class ClientWatch {
 public:
  ClientWatch(http::Exchange& exchange, front::Reply& reply) : exchange_{exchange} {
    exchange.on_client_gone([&reply] { reply.cancel(); });
    if (exchange.client_gone()) reply.cancel();
  }
  ~ClientWatch() { exchange_.on_client_gone({}); }
  ClientWatch(const ClientWatch&) = delete;
  ClientWatch& operator=(const ClientWatch&) = delete;

 private:
  http::Exchange& exchange_;
};

// Why an answer that was refused need not be sent: nobody is there any more.
inline bool nobody_listens(const http::Exchange& exchange, const front::Refused& refused) {
  return refused.error.code() == ErrorCode::kCancelled && exchange.client_gone();
}

}  // namespace hearth::api
