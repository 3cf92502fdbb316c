// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth::fetcher {

// An http or https URL that has been taken apart by the same parser that will connect to it, so
// that what is checked is what is asked. Without credentials and without a fragment.
class Url {
 public:
  // Errors: kInvalid, in words that do not repeat the URL: its query may be a secret.
  static Result<Url> parse(std::string_view text);
  // Where a Location header leads from here. Errors: as parse().
  Result<Url> resolve(std::string_view location) const;

  const std::string& text() const { return text_; }
  const std::string& scheme() const { return scheme_; }  // "http" or "https"
  // In lower case; an IPv6 address without brackets.
  const std::string& host() const { return host_; }
  std::uint16_t port() const { return port_; }

  // For people: the host, with its port where that is not the usual one.
  std::string server() const;
  // Whether credentials for `other` may be sent here.
  bool same_origin(const Url& other) const {
    return scheme_ == other.scheme_ && host_ == other.host_ && port_ == other.port_;
  }

 private:
  static Result<Url> parse(std::string_view text, std::string_view base);

  std::string text_;
  std::string scheme_;
  std::string host_;
  std::uint16_t port_ = 0;
};

}  // namespace hearth::fetcher
