// SPDX-License-Identifier: Apache-2.0
#include "api/openai/completion_logprobs.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/logprob_json.h"

namespace hearth::api::openai {
namespace {

namespace json = boost::json;
using wire::TokenLogprob;

const TokenLogprob kFox{{7, " f\u00f6x", -0.25}, {{7, " f\u00f6x", -0.25}, {8, " dog", -2}}};
const TokenLogprob kHead{{1, "\xF0\x9F", -1}, {}};
const TokenLogprob kTail{{2, "\x94\xA5", -0.5}, {}};

TEST(CompletionLogprobs, AreFourListsSideBySide) {
  const std::vector<TokenLogprob> tokens{kFox, kFox};
  EXPECT_EQ(json::parse(CompletionLogprobs{}.json(tokens)), json::parse(R"({
    "tokens":[" f\u00f6x"," f\u00f6x"],"token_logprobs":[-0.25,-0.25],
    "top_logprobs":[{" f\u00f6x":-0.25," dog":-2.0},{" f\u00f6x":-0.25," dog":-2.0}],
    "text_offset":[0,4]})"));
}

TEST(CompletionLogprobs, CountOnFromPieceToPiece) {
  CompletionLogprobs logprobs;
  const std::vector<TokenLogprob> tokens{kFox};
  (void)logprobs.json(tokens);
  EXPECT_EQ(json::parse(logprobs.json(tokens)).at("text_offset"), json::parse("[4]"));
  EXPECT_EQ(logprobs.json({}), "null");
}

TEST(CompletionLogprobs, HalvesOfACharacterAreSpeltOut) {
  const std::vector<TokenLogprob> tokens{kHead, kTail};
  EXPECT_EQ(json::parse(CompletionLogprobs{}.json(tokens)), json::parse(R"({
    "tokens":["bytes:\\xf0\\x9f","bytes:\\x94\\xa5"],"token_logprobs":[-1.0,-0.5],
    "top_logprobs":null,"text_offset":[0,1]})"));
}

TEST(CompletionLogprobs, TheChosenIsAmongTheLikeliest) {
  TokenLogprob token = kFox;
  token.chosen = {9, " cat", -7};
  const std::vector<TokenLogprob> tokens{token};
  EXPECT_EQ(json::parse(CompletionLogprobs{}.json(tokens)).at("top_logprobs").at(0),
            json::parse(R"({" f\u00f6x":-0.25," dog":-2.0," cat":-7.0})"));
}

TEST(CompletionLogprobs, OfTwoTokensWithOneTextTheLikelierIsTold) {
  TokenLogprob token = kFox;
  token.top.push_back({99, " dog", -9});
  const std::vector<TokenLogprob> tokens{token};
  EXPECT_EQ(json::parse(CompletionLogprobs{}.json(tokens)).at("top_logprobs").at(0).at(" dog"),
            -2.0);
}

TEST(LogprobList, HasTextAndBytes) {
  const std::vector<TokenLogprob> tokens{kFox, kHead};
  EXPECT_EQ(json::parse(logprob_list(tokens)), json::parse(R"([
    {"token":" f\u00f6x","logprob":-0.25,"bytes":[32,102,195,182,120],"top_logprobs":[
      {"token":" f\u00f6x","logprob":-0.25,"bytes":[32,102,195,182,120]},
      {"token":" dog","logprob":-2.0,"bytes":[32,100,111,103]}]},
    {"token":"\ufffd\ufffd","logprob":-1.0,"bytes":[240,159],"top_logprobs":[]}])"));
}

}  // namespace
}  // namespace hearth::api::openai
