// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "api/generation.h"
#include "api/model_defaults.h"
#include "api/responses/output.h"
#include "base/result.h"

// Bodies of /v1/responses, read. Pure. Errors are kInvalid and name the member at fault by its
// path. Members that nobody here knows are passed over; those whose silence would change the answer
// (tools that others run, images, background, ...) are refused by name.
namespace hearth::api::responses {

struct ResponseCall {
  GenerateCall generate;
  OutputRules output;
  bool store = true;
  std::string previous;        // previous_response_id, or empty
  boost::json::value input;    // as it was sent
  boost::json::object echoed;  // the members that an answer repeats
};

// The items of what this request goes on from, oldest first.
using Earlier = std::vector<boost::json::array>;

Result<ResponseCall> parse_response(const boost::json::object& body, const Earlier& earlier,
                                    const ModelDefaults& defaults = {});

// The same request, to be counted only.
Result<ResponseCall> parse_count(const boost::json::object& body, const Earlier& earlier,
                                 const ModelDefaults& defaults = {});

}  // namespace hearth::api::responses
