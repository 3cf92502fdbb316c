// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "api/call.h"
#include "api/needs.h"
#include "front/keys.h"
#include "http/message.h"

namespace hearth::api {

struct Rejection {
  int status = 401;         // or 403: a known key, with another role than it takes
  std::string_view reason;  // for log and metrics: "missing", "malformed", ..., "role"
  std::string message;      // for the client
  std::string key;          // the id of the key of a 403
};

// Who sends this request, if it may: the holder of the key in `Authorization: Bearer KEY` or
// `x-api-key: KEY`. Where several are given they must be the same. Without keys in the ring
// everybody is an admin, whatever is shown: many clients must be given some key. Where nothing is
// needed, whoever shows no good key has the role `use`.
std::variant<Caller, Rejection> authenticate(const http::HttpRequest& request,
                                             const front::KeyRing& keys, Needs needs);

// Whether the caller would still be let in: for what goes on after its request was looked at. A key
// may be taken back meanwhile, and the first one ends what went without.
bool is_current(const Caller& caller, const front::KeyRing& keys);

// With WWW-Authenticate where it is a 401.
http::HttpResponse rejection_response(Dialect dialect, const Rejection& rejection);

}  // namespace hearth::api
