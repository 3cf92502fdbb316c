// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hearth::front {

// By which names this server may be called, and from pages of which origins, beside the local ones
// that are always known. Can change while the server runs.
struct AccessRules {
  std::vector<std::string> hosts;    // "ai.home.example", "*.home.example"; ports do not count
  std::vector<std::string> origins;  // "https://chat.home.example"; api/access.h has all forms
};

}  // namespace hearth::front
