// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <memory>

#include "api/reply_format.h"
#include "api/responses/output.h"

namespace hearth::api::responses {

// Gets each response that came to an end, before its client does.
using KeepResponse = std::function<void(const boost::json::object& response)>;

struct ReplyRules {
  OutputRules output;
  boost::json::object echoed;  // members of the request that the answer repeats
  KeepResponse keep;           // may be empty
};

// "resp_" and the request's id.
std::string response_id(std::string_view request_id);

// /v1/responses. Pure, but for `keep`.
std::unique_ptr<ReplyFormat> response_format(ReplyIdentity identity, ReplyRules rules);

}  // namespace hearth::api::responses
