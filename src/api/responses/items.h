// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "api/fields.h"
#include "api/turns.h"

// What a conversation of /v1/responses is made of: messages, calls of functions and what came of
// them, reasoning. Pure.
namespace hearth::api::responses {

// The items of `member` (a text, or a list) as turns. Errors are at the item's path, also for items
// that this server has no use for and for the output of a call that nobody made.
void read_items(const Fields& body, std::string_view member, Turns& turns);

// The items of `input`, each with its type, its id and its content as a list: how they are kept and
// listed. `input` has been read without an error.
boost::json::array listed_items(const boost::json::value& input, std::string_view request_id);

}  // namespace hearth::api::responses
