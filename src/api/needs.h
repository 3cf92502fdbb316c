// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "front/keys.h"

namespace hearth::api {

// What a caller must show for a route, once the server has keys.
enum class Needs {
  kNothing,  // not even a key
  kAnyKey,   // of any role
  kUse,      // use or admin
  kWatch,    // read-only or admin
  kAdmin,
};

constexpr bool permits(front::Role role, Needs needs) {
  switch (needs) {
    case Needs::kNothing:
    case Needs::kAnyKey:
      return true;
    case Needs::kUse:
      return role != front::Role::kReadOnly;
    case Needs::kWatch:
      return role != front::Role::kUse;
    case Needs::kAdmin:
      break;
  }
  return role == front::Role::kAdmin;
}

// For documentation and refusals: "nothing", "any key", "use", "read-only", "admin".
constexpr std::string_view name_of(Needs needs) {
  switch (needs) {
    case Needs::kNothing:
      return "nothing";
    case Needs::kAnyKey:
      return "any key";
    case Needs::kUse:
      return "use";
    case Needs::kWatch:
      return "read-only";
    case Needs::kAdmin:
      break;
  }
  return "admin";
}

}  // namespace hearth::api
