// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "api/fields.h"

namespace hearth::api {

// A body as `parse` reads it. Errors: those of parse_body() and of `parse`.
template <class T>
Result<T> read_body(const std::string& body, Result<T> (*parse)(const boost::json::object&)) {
  auto object = parse_body(body);
  if (!object) return Failed{std::move(object).error()};
  return parse(*object);
}

}  // namespace hearth::api
