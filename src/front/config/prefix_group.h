// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hearth::front {

// Keys that may know of each other's prompts.
struct PrefixGroup {
  std::string name;
  std::vector<std::string> keys;  // by name
};

// "family: anna, ben". Errors: kInvalid, as the end of a sentence that begins with the option's
// name.
Result<PrefixGroup> parse_prefix_group(const std::string& text);

Result<> check_prefix_group(const std::string& text);

}  // namespace hearth::front
