// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth {

// Whether a Modelfile's PARAMETER of this name, in lower case, can mean something.
bool is_model_parameter(std::string_view name);

// "; did you mean ...?" for one that is unknown.
std::string nearest_model_parameter(std::string_view name);

// Adds `text`, as it stands in a Modelfile, to `parameters`: a number, a boolean or a text as the
// name demands; `stop` collects a list. Unknown names: what the text looks like. Errors: kInvalid.
Result<> add_model_parameter(boost::json::object& parameters, std::string_view name,
                             std::string_view text);

}  // namespace hearth
