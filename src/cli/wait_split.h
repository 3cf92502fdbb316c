// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/json.hpp>
#include <cstddef>
#include <string_view>

namespace hearth::cli {

// What a wait for a first token is put down to, coldest first; the first five are the layers.
constexpr std::array<std::string_view, 8> kWaitParts{"artifact", "pages", "weights", "compiled",
                                                     "prefix",   "queue", "work",    "other"};
constexpr std::size_t kColdParts = 5;

// Milliseconds of each part. A plain value.
using WaitSplit = std::array<double, kWaitParts.size()>;

// The wait of a request that has ended, as the dashboard divides it: of stages that run side by
// side the coldest counts, so that the parts add up to the wait; what was evaluated again because
// its prefix was gone counts as prefix. Pure.
WaitSplit wait_split(const boost::json::object& entry);

}  // namespace hearth::cli
