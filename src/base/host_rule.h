// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth {

// Which servers may be asked for something, as people write it down:
//   huggingface.co        this host, over https, on its usual port
//   mirror.example:8443   on another port
//   *.hf.co               every host below one
//   *                     every host
//   http://nas.lan:8080   this host without encryption
// Only a rule that names one host in full lets that host be at a private address (loopback, home
// network, link-local), because whoever wrote it knew.
class HostRule {
 public:
  // Errors: kInvalid, as the end of a sentence that begins with what the text is for.
  static Result<HostRule> parse(std::string_view text);

  // `scheme`: "https" or "http"; `host` in lower case, an IPv6 address without brackets.
  bool matches(std::string_view scheme, std::string_view host, std::uint16_t port) const;
  bool names_one_host() const { return wildcard_ == Wildcard::kNone; }

 private:
  enum class Wildcard { kNone, kBelow, kAll };
  Wildcard wildcard_ = Wildcard::kNone;
  std::string scheme_;
  std::string host_;
  std::uint16_t port_ = 0;
};

}  // namespace hearth
