// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "api/call.h"
#include "api/needs.h"
#include "base/async.h"

namespace hearth::api {

using Handler = Task<void> (*)(Call);

// `pattern` is a path; one of its parts may be "{id}", which takes one part, or its last one
// "{rest}", which takes all that is left, slashes included (model names have them). Neither takes
// nothing.
struct Route {
  std::string_view method;
  std::string_view pattern;
  Handler handler;
  Needs needs;
  std::string_view summary;  // what it does, in one short line for the documentation
  http::BodyDelivery body = http::BodyDelivery::kWhole;
};

struct Found {
  const Route* route;  // in the table
  std::string argument;
};
struct UnknownPath {};
struct WrongMethod {
  std::string allowed;  // the value of an Allow header
};

using Match = std::variant<Found, UnknownPath, WrongMethod>;

// Finds who answers. A GET route takes HEAD too. Holds the table by reference; thread-safe.
class Router {
 public:
  explicit Router(std::span<const Route> routes) : routes_{routes} {}

  Match match(std::string_view method, std::string_view path) const;

 private:
  std::span<const Route> routes_;
};

}  // namespace hearth::api
