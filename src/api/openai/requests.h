// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>

#include "base/result.h"
#include "front/reply.h"
#include "wire/messages.h"

// Bodies of the /v1 routes, read. Pure. Errors are kInvalid and name the member at fault by its
// path. Members that nobody here knows are passed over, as clients of many servers send many; those
// whose silence would change the answer (n, logprobs, images, ...) are refused by name.
namespace hearth::api::openai {

struct GenerateCall {
  std::string model;  // as the client wrote it
  wire::GenerateMessage message;
  front::Delivery delivery = front::Delivery::kWhole;
  bool include_usage = false;    // a last chunk with the token counts
  bool return_progress = false;  // comments while a model warms
};

struct EmbedCall {
  std::string model;
  wire::EmbedMessage message;
  bool base64 = false;  // little-endian float32, as the official clients ask for it
  int dimensions = 0;   // 0: the client did not say
};

Result<GenerateCall> parse_chat(const boost::json::object& body);
Result<GenerateCall> parse_completion(const boost::json::object& body);
Result<EmbedCall> parse_embedding(const boost::json::object& body);

}  // namespace hearth::api::openai
