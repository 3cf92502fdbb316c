// SPDX-License-Identifier: Apache-2.0
#include "api/logprob_json.h"

#include <fmt/format.h>

#include "api/json_text.h"
#include "base/json.h"

namespace hearth::api {
namespace {

// Without the closing brace.
void append_open(std::string& out, const wire::TokenChance& chance) {
  out += R"({"token":)";
  append_json_string(out, is_utf8(chance.bytes) ? chance.bytes : repair_utf8(chance.bytes));
  out += fmt::format(R"(,"logprob":{:.6f},"bytes":[)", chance.logprob);
  std::string_view separator;
  for (const char byte : chance.bytes) {
    out += separator;
    separator = ",";
    out += std::to_string(static_cast<unsigned char>(byte));
  }
  out += ']';
}

void append_one(std::string& out, const wire::TokenLogprob& token) {
  append_open(out, token.chosen);
  out += R"(,"top_logprobs":[)";
  for (std::size_t i = 0; i < token.top.size(); ++i) {
    if (i > 0) out += ',';
    append_open(out, token.top[i]);
    out += '}';
  }
  out += "]}";
}

}  // namespace

std::string logprob_list(std::span<const wire::TokenLogprob> tokens) {
  std::string out = "[";
  for (const wire::TokenLogprob& token : tokens) {
    if (out.size() > 1) out += ',';
    append_one(out, token);
  }
  return out += ']';
}

}  // namespace hearth::api
