// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Lenient reading of a server's answers: a field that is absent, null or of another type reads as
// empty, so that an older command line still shows what a newer server says.
namespace hearth::cli {

std::string text_in(const boost::json::object& object, std::string_view name);
std::optional<double> number_in(const boost::json::object& object, std::string_view name);
std::int64_t integer_in(const boost::json::object& object, std::string_view name);
bool flag_in(const boost::json::object& object, std::string_view name);

// Null when there is none.
const boost::json::object* object_in(const boost::json::object& object, std::string_view name);
const boost::json::array* array_in(const boost::json::object& object, std::string_view name);

}  // namespace hearth::cli
