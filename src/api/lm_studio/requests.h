// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>

#include "api/generation.h"
#include "base/result.h"

// Pure. Errors are kInvalid and name the member at fault by its path.
namespace hearth::api::lm_studio {

struct LoadCall {
  RequestOptions options;
  int context = 0;  // context_length, which a load cannot change here; 0: not said
  bool echo = false;
};

Result<LoadCall> parse_load(const boost::json::object& body);
// The instance's id.
Result<std::string> parse_unload(const boost::json::object& body);

}  // namespace hearth::api::lm_studio
