// SPDX-License-Identifier: Apache-2.0
//
// Bodies that nobody would write, by seed, given to every parser of a dialect: each is read or
// named wrong, and nothing worse.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>

#include "api/anthropic/requests.h"
#include "api/ollama/requests.h"
#include "api/openai/requests.h"

namespace hearth::api {
namespace {

constexpr int kMutations = 4'000;

constexpr std::array<std::string_view, 10> kBodies{
    R"({"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"é\ud83d\ude00"}]},
      {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
      "function":{"name":"f","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"1","content":"x"}]})",
    R"({"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"max_tokens":5,
      "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",
      "properties":{"a":{"type":"string","pattern":"^(a|b{2,3})$"}}}}}],"tool_choice":"required"})",
    R"({"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":
      "json_schema","json_schema":{"name":"x","schema":{"type":"array","items":{"$ref":"#/$defs/a"},
      "minItems":1,"maxItems":3,"$defs":{"a":{"enum":[1,"b",null]}}}}},"logit_bias":{"5":-100}})",
    R"({"model":"m","prompt":[1,2,3],"echo":true,"stop":["a","b"],"seed":18446744073709551615,
      "temperature":0.5,"top_p":1e-3,"keep_alive":"1h30m",
      "stream_options":{"include_usage":true}})",
    R"({"model":"m","input":["a","b"],"encoding_format":"base64","dimensions":8,"ttl":1.5})",
    R"({"model":"m","prompt":"x","system":"y","context":[1,2],"raw":false,"format":{"type":"object",
      "properties":{"a":{"type":"integer","minimum":1,"maximum":3}}},"think":"high","options":
      {"num_ctx":512,"num_predict":-1,"stop":["x"],"mirostat":0,"num_gpu":-1}})",
    R"({"model":"m","max_tokens":4096,"system":[{"type":"text","text":"s","cache_control":{"type":
      "ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":
      "assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"tool_use",
      "id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result",
      "tool_use_id":"1","content":"r"}]}],"thinking":{"type":"enabled","budget_tokens":1024}})",
    R"({"model":"m","from":"n","parameters":{"temperature":0,"stop":["x"]},"messages":[{"role":"user",
      "content":"x"}],"license":["a","b"],"template":"{{ .Prompt }}"})",
    R"({"model":"m","modelfile":"FROM n\nPARAMETER temperature 0\nSYSTEM \"\"\"x\"\"\"\n"})",
    R"({"name":"m","source":"a","destination":"b","insecure":true,"stream":false})"};

constexpr std::array<std::string_view, 14> kPieces{
    "null", "{}",   "[]",      "\"\"", "-1",  "1e308", "18446744073709551615",
    "true", "[[[[", "\\u0000", "\"",   "{\"", "],",    "\"type\":\"object\","};

class Mutator {
 public:
  explicit Mutator(unsigned seed) : dice_{seed} {}

  std::string next() {
    std::string body{kBodies[below(kBodies.size())]};
    for (std::size_t times = 1 + below(4); times > 0; --times) mutate(body);
    return body;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : dice_() % bound; }

  void mutate(std::string& body) {
    const std::size_t at = below(body.size());
    const std::size_t length = below(std::min<std::size_t>(40, body.size() - at));
    switch (below(5)) {
      case 0:
        body.erase(at, length);
        break;
      case 1:
        body.insert(at, body.substr(below(body.size()), length));
        break;
      case 2:
        body.insert(at, kPieces[below(kPieces.size())]);
        break;
      case 3:
        replace_value(body, at);
        break;
      default:
        if (!body.empty()) body[at] = static_cast<char>(below(256));
    }
  }

  // What stands behind the next colon, up to where a value may end.
  void replace_value(std::string& body, std::size_t at) {
    const std::size_t colon = body.find(':', at);
    if (colon == std::string::npos) return;
    const std::size_t end = body.find_first_of(",}]", colon);
    if (end == std::string::npos) return;
    body.replace(colon + 1, end - colon - 1, kPieces[below(kPieces.size())]);
  }

  std::mt19937 dice_;
};

using Parser = bool (*)(const boost::json::object&);

template <class T>
bool told(const Result<T>& parsed) {
  return parsed || (parsed.error().code() == ErrorCode::kInvalid &&
                    !parsed.error().field().empty() && !parsed.error().message().empty());
}

struct Named {
  const char* name;
  Parser parse;
};

class RequestMutation : public testing::TestWithParam<Named> {};

TEST_P(RequestMutation, IsReadOrNamesTheMember) {
  Mutator mutator{7};
  int objects = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutator.next();
    const auto body = parse_body(text);
    if (!body) continue;
    ++objects;
    EXPECT_TRUE(GetParam().parse(*body)) << text;
  }
  EXPECT_GT(objects, kMutations / 20) << "hardly any got as far as the parser";
}

using json_object = boost::json::object;

INSTANTIATE_TEST_SUITE_P(
    Parsers, RequestMutation,
    testing::Values(
        Named{"Chat", [](const json_object& b) { return told(openai::parse_chat(b)); }},
        Named{"Completion", [](const json_object& b) { return told(openai::parse_completion(b)); }},
        Named{"Embedding", [](const json_object& b) { return told(openai::parse_embedding(b)); }},
        Named{"Messages", [](const json_object& b) { return told(anthropic::parse_messages(b)); }},
        Named{"Count", [](const json_object& b) { return told(anthropic::parse_count(b)); }},
        Named{"OllamaChat", [](const json_object& b) { return told(ollama::parse_chat(b)); }},
        Named{"Generate", [](const json_object& b) { return told(ollama::parse_generate(b)); }},
        Named{"Embed", [](const json_object& b) { return told(ollama::parse_embed(b)); }},
        Named{"Embeddings", [](const json_object& b) { return told(ollama::parse_embeddings(b)); }},
        Named{"Pull", [](const json_object& b) { return told(ollama::parse_pull(b)); }},
        Named{"Create", [](const json_object& b) { return told(ollama::parse_create(b)); }},
        Named{"Copy", [](const json_object& b) { return told(ollama::parse_copy(b)); }}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::api
