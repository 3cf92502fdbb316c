// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/async.h"
#include "http/server.h"

namespace hearth::api {

// A streamed answer whose headers leave with its first bytes, so that what goes wrong before them
// has a status of its own. The exchange must outlive it.
class LateStream {
 public:
  explicit LateStream(http::Exchange& exchange) : exchange_{exchange} {}

  bool begun() const { return begun_; }  // something was sent, or tried to be

  // Those that the first bytes bring.
  void set_headers(http::Headers headers) { headers_ = std::move(headers); }

  // False once the client takes no more; from then on nothing is written.
  Task<bool> send(std::string bytes);
  Task<void> end();

 private:
  http::Exchange& exchange_;
  http::Headers headers_;
  bool begun_ = false;
  bool listening_ = true;
};

}  // namespace hearth::api
