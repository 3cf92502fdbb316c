// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string_view>

namespace hearth::api {

// Does what `reference` names within `root` ("#/$defs/node") come back to it before any text could
// have begun? Such a definition fits nothing, and no grammar can be made of it.
bool leads_back(const boost::json::object& root, std::string_view reference);

}  // namespace hearth::api
