// SPDX-License-Identifier: Apache-2.0
#include "api/llama_server/requests.h"

#include <utility>

#include "api/fields.h"

namespace hearth::api::llama_server {

Result<TokenizeCall> parse_tokenize(const boost::json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  TokenizeCall call;
  call.model = body.text("model");
  if (!body.has("content")) body.fail("content", "a string is required here");
  call.content = body.text("content").value_or("");
  call.add_special = body.flag("add_special").value_or(false);
  if (!body.flag("parse_special").value_or(true)) {
    body.fail("parse_special", "special tokens in a text are always taken as such here");
  }
  if (body.flag("with_pieces").value_or(false)) {
    body.fail("with_pieces", "the texts of tokens are not told here");
  }
  if (error) return Failed{std::move(*error)};
  return call;
}

}  // namespace hearth::api::llama_server
