// SPDX-License-Identifier: Apache-2.0
#include "wire/logprobs.h"

#include "base/json.h"
#include "wire/json_writer.h"
#include "wire/object_reader.h"

namespace hearth::wire {
namespace {

void put(JsonWriter& out, const TokenChance& chance) {
  out.number("token", chance.token);
  if (is_utf8(chance.bytes)) {
    out.text("text", chance.bytes);
  } else {
    std::vector<int> bytes;
    for (const char byte : chance.bytes) bytes.push_back(static_cast<unsigned char>(byte));
    out.integers("bytes", bytes);
  }
  out.number("logprob", chance.logprob);
}

std::string encode(const std::vector<TokenChance>& chances) {
  std::string out = "[";
  for (const TokenChance& chance : chances) {
    if (out.size() > 1) out += ',';
    JsonWriter one;
    put(one, chance);
    out += one.finish();
  }
  return out += ']';
}

TokenChance read_chance(ObjectReader& in) {
  in.require({"token", "logprob"});
  TokenChance chance;
  chance.token = in.integer("token", kCount).value_or(0);
  chance.bytes = in.text("text");
  for (const int byte : in.integers("bytes", {0, 255})) {
    chance.bytes += static_cast<char>(byte);
  }
  chance.logprob = in.number("logprob", kAnyNumber).value_or(0.0);
  return chance;
}

}  // namespace

std::string encode(const std::vector<TokenLogprob>& tokens) {
  std::string out = "[";
  for (const TokenLogprob& token : tokens) {
    if (out.size() > 1) out += ',';
    JsonWriter one;
    put(one, token.chosen);
    if (!token.top.empty()) one.raw("top", encode(token.top));
    out += one.finish();
  }
  return out += ']';
}

std::vector<TokenLogprob> read_logprobs(ObjectReader& in, std::string_view name) {
  std::vector<TokenLogprob> tokens;
  in.each_object(name, [&](ObjectReader& inner) {
    TokenLogprob token{read_chance(inner), {}};
    inner.each_object("top", [&](ObjectReader& top) { token.top.push_back(read_chance(top)); });
    tokens.push_back(std::move(token));
  });
  return tokens;
}

}  // namespace hearth::wire
