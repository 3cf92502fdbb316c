// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "api/call.h"
#include "api/fields.h"
#include "api/model_defaults.h"

namespace hearth::api {

// A body as `parse` reads it. Errors: those of parse_body() and of `parse`.
template <class T>
Result<T> read_body(const std::string& body, Result<T> (*parse)(const boost::json::object&)) {
  auto object = parse_body(body);
  if (!object) return Failed{std::move(object).error()};
  return parse(*object);
}

// The same for one that takes what its model says by itself, too.
template <class T>
Result<T> read_body(const Call& call,
                    Result<T> (*parse)(const boost::json::object&, const ModelDefaults&)) {
  auto object = parse_body(call.request().body);
  if (!object) return Failed{std::move(object).error()};
  return parse(*object, ModelDefaults{call.service});
}

}  // namespace hearth::api
