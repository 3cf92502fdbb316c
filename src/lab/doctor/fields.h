// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

// Lenient reading of what a server says: what is absent, null or of another type is unset, so that
// an older server is understood as far as it goes.
namespace hearth::lab::fields {

std::string text(const boost::json::object& object, std::string_view name);
std::optional<double> number(const boost::json::object& object, std::string_view name);
// Less than nothing is unset.
std::optional<Bytes> bytes(const boost::json::object& object, std::string_view name);
// An empty one where there is none.
const boost::json::object& part(const boost::json::object& object, std::string_view name);
// The objects of a list; whatever else is in it is left out.
std::vector<const boost::json::object*> objects(const boost::json::object& object,
                                                std::string_view name);
std::vector<std::string> texts(const boost::json::object& object, std::string_view name);

}  // namespace hearth::lab::fields
