// SPDX-License-Identifier: Apache-2.0
#include "api/openai/completion_logprobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/json_text.h"
#include "base/json.h"

namespace hearth::api::openai {
namespace {

// What is no whole character is spelt out, so that two halves do not look the same.
std::string name_of(const wire::TokenChance& chance) {
  if (is_utf8(chance.bytes)) return chance.bytes;
  std::string out = "bytes:";
  for (const char byte : chance.bytes) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return out;
}

std::size_t characters_begun(const std::string& bytes) {
  return static_cast<std::size_t>(
      std::ranges::count_if(bytes, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

class TopLogprobs {
 public:
  // Two tokens can have one text: the likelier one's stands.
  void add(const wire::TokenChance& chance) {
    std::string name = name_of(chance);
    if (names_.contains(name)) return;
    out_ += out_.empty() ? "{" : ",";
    append_json_string(out_, name);
    out_ += fmt::format(":{:.6f}", chance.logprob);
    names_.insert(std::move(name));
  }
  std::string json() const { return out_ + "}"; }

 private:
  std::string out_;
  std::set<std::string> names_;
};

// The chosen token is among them in any case, as the first dialect of this kind had it.
std::string top_json(const wire::TokenLogprob& token) {
  if (token.top.empty()) return "null";
  TopLogprobs top;
  for (const wire::TokenChance& chance : token.top) top.add(chance);
  top.add(token.chosen);
  return top.json();
}

}  // namespace

std::string CompletionLogprobs::json(std::span<const wire::TokenLogprob> tokens) {
  if (tokens.empty()) return "null";
  std::string names, logprobs, tops, offsets;
  for (const wire::TokenLogprob& token : tokens) {
    const std::string_view separator = names.empty() ? "" : ",";
    names += separator;
    append_json_string(names, name_of(token.chosen));
    logprobs += fmt::format("{}{:.6f}", separator, token.chosen.logprob);
    tops += separator;
    tops += top_json(token);
    offsets += fmt::format("{}{}", separator, offset_);
    offset_ += characters_begun(token.chosen.bytes);
  }
  const bool without = tokens.front().top.empty();
  return fmt::format(
      R"({{"tokens":[{}],"token_logprobs":[{}],"top_logprobs":{},"text_offset":[{}]}})", names,
      logprobs, without ? "null" : "[" + tops + "]", offsets);
}

}  // namespace hearth::api::openai
