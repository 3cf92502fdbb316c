// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layers/artifact/source/source_index.h"

namespace hearth {

// How a registry that answers 401 wants to be asked: `WWW-Authenticate: Bearer
// realm="...",service="...",scope="..."`.
struct AuthChallenge {
  std::string realm;                // an address; not checked
  std::string service;              // may be empty
  std::vector<std::string> scopes;  // may be empty

  // Errors: kInvalid, when the server wants something else than a token (a password); kCorrupt.
  static Result<AuthChallenge> find_bearer(const std::vector<HeaderField>& headers);

  // "?..." for the realm, which may have brought a query of its own; may be empty.
  std::string query(std::string_view of_realm) const;
};

}  // namespace hearth
