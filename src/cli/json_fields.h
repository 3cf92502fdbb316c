// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

// Lenient reading of a server's answers: a field that is absent, null or of another type reads as
// empty, so that an older command line still shows what a newer server says.
namespace hearth::cli {

std::string text_in(const boost::json::object& object, std::string_view name);
std::optional<double> number_in(const boost::json::object& object, std::string_view name);
std::int64_t integer_in(const boost::json::object& object, std::string_view name);
// Less than nothing reads as nothing.
Bytes bytes_in(const boost::json::object& object, std::string_view name);
bool flag_in(const boost::json::object& object, std::string_view name);

// The texts in a list; empty where there is none.
std::vector<std::string> texts_in(const boost::json::object& object, std::string_view name);

// Of a moment in microseconds since 1970 UTC, the seconds up to `now_us`, at least 0; -1 when there
// is no such moment, or when it is 0.
double seconds_since(const boost::json::object& object, std::string_view name, std::int64_t now_us);

// Null when there is none.
const boost::json::object* object_in(const boost::json::object& object, std::string_view name);
const boost::json::array* array_in(const boost::json::object& object, std::string_view name);

// An empty object when there is none.
const boost::json::object& part_in(const boost::json::object& object, std::string_view name);
// The objects in a list; whatever else is in it is left out.
std::vector<const boost::json::object*> objects_in(const boost::json::object& object,
                                                   std::string_view name);

}  // namespace hearth::cli
