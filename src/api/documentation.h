// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth::api {

// A page of docs/ with its tables as the code has them: what stands between the lines
// "<!-- begin: NAME -->" and "<!-- end -->" is written anew. Errors: kInvalid, for a name that no
// table has, or a block without its end.
Result<std::string> with_tables(std::string_view page);

}  // namespace hearth::api
