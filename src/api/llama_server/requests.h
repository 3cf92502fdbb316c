// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"

namespace hearth::api::llama_server {

struct TokenizeCall {
  std::optional<std::string> model;
  std::string content;
  bool add_special = false;
};

// Pure. Errors are kInvalid and name the member at fault by its path.
Result<TokenizeCall> parse_tokenize(const boost::json::object& body);

}  // namespace hearth::api::llama_server
