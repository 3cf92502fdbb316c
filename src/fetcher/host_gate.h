// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/host_rule.h"
#include "base/result.h"
#include "fetcher/url.h"

namespace hearth::fetcher {

// Where a server's address may lie.
enum class Reach {
  kPublic,    // on the internet only
  kAnywhere,  // also at home: someone named this very host
};

// Which servers may be asked. Where a fetch begins must be named by a rule; a redirect may also
// lead to any public server over https, since that is how content networks work, but never from
// https to http. Thread-safe: does not change.
class HostGate {
 public:
  // Errors: kInvalid, for a text that is no HostRule.
  static Result<HostGate> of(const std::vector<std::string>& rules);

  // Errors: kInvalid, naming the host and the option `pull_hosts`.
  Result<Reach> first(const Url& url) const;
  Result<Reach> redirect(const Url& from, const Url& to) const;

 private:
  enum class Match { kNone, kSome, kNamed };
  Match match(const Url& url) const;

  std::vector<HostRule> rules_;
};

// Of an address, or of a name that means something within one network only.
Failed refuse_private(const Url& url, const std::string& address);

}  // namespace hearth::fetcher
