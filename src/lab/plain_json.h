// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace hearth::lab {

// As boost::json::serialize() writes it, but for numbers: 120 and 0.5 where that writes 1.2E2 and
// 5E-1. Numbers come back as they were; a whole one may come back as an integer. What JSON has no
// word for is null.
std::string plain_json(const boost::json::value& value);

}  // namespace hearth::lab
