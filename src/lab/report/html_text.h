// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hearth::lab {

// Any text as HTML text or as the value of a quoted attribute: markup becomes characters; control
// characters, bytes that are no UTF-8 and marks that turn the direction of what follows are gone.
std::string escaped(std::string_view text);

// The page's style sheet.
std::string_view page_style();

}  // namespace hearth::lab
