// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hearth::front {

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;

  // Whether only this machine can reach it.
  bool is_loopback() const;
};

// "HOST:PORT", "HOST", ":PORT", "[::1]:PORT". Without a host it is loopback: serving others is said
// with an address. Errors: kInvalid.
Result<ListenAddress> parse_listen(const std::string& text);

}  // namespace hearth::front
