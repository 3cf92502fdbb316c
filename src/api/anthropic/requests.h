// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>

#include "api/anthropic/reply_format.h"
#include "api/generation.h"
#include "api/model_defaults.h"
#include "base/result.h"

// Bodies of the /v1/messages routes, read. Pure. Errors are kInvalid and name the member at fault
// by its path. Members that nobody here knows are passed over, as are those that ask for nothing
// here (metadata, service_tier); cache_control only decides how tokens are told, as prefixes are
// always kept; those whose silence would
// change the answer (images, containers, tools that Anthropic runs, ...) are refused by name.
namespace hearth::api::anthropic {

struct MessagesCall {
  GenerateCall generate;
  ReplyRules rules;
};

Result<MessagesCall> parse_messages(const boost::json::object& body,
                                    const ModelDefaults& defaults = {});

// What would be asked, to be counted only.
Result<MessagesCall> parse_count(const boost::json::object& body,
                                 const ModelDefaults& defaults = {});

}  // namespace hearth::api::anthropic
