// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "api/fields.h"

namespace hearth::api::openai {

// A member of a body that other servers of this dialect act upon, and this one does not. Passing
// over it would change the answer, so it is refused by name, unless it says what happens anyway.
struct ForeignField {
  std::string_view name;
  std::string_view neutral;  // as JSON; empty: none but null
  std::string_view reason;
};

// All of them.
std::span<const ForeignField> foreign_fields();

void refuse_foreign(const Fields& body);

}  // namespace hearth::api::openai
