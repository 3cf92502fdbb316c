// SPDX-License-Identifier: Apache-2.0
#include "worker/prepare.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/embedder.h"
#include "worker/long_text.h"
#include "worker/prompt.h"
#include "worker/truncate.h"

namespace hearth::worker {
namespace {

using engine::AddSpecial;
using engine::ShowSpecial;
using engine::Token;

// Only the vocabulary knows which tokens a text has.
void add_text_biases(const engine::Vocabulary& vocabulary, const wire::Sampling& from,
                     engine::SamplingOptions& to) {
  for (const wire::TextBias& bias : from.text_bias) {
    for (const Token token : vocabulary.tokenize(bias.text, AddSpecial::kNo)) {
      to.logit_bias[token] = bias.bias;
    }
  }
}

engine::SamplingOptions sampling_of(const wire::GenerateMessage& message,
                                    const engine::Vocabulary& vocabulary) {
  const wire::Sampling& from = message.sampling;
  engine::SamplingOptions to;
  to.seed = from.seed;
  to.temperature = from.temperature;
  to.top_p = from.top_p;
  to.top_k = from.top_k;
  to.min_p = from.min_p;
  to.typical_p = from.typical_p;
  to.repeat_penalty = from.repeat_penalty;
  to.presence_penalty = from.presence_penalty;
  to.frequency_penalty = from.frequency_penalty;
  to.repeat_last_n = from.repeat_last_n;
  to.logit_bias = {from.logit_bias.begin(), from.logit_bias.end()};
  to.ignore_eos = message.ignore_eos;
  to.min_tokens = from.min_tokens;
  add_text_biases(vocabulary, from, to);
  return to;
}

void set_steering(wire::GenerateMessage& message, engine::RenderedChat& chat, Request& request) {
  std::move(chat.stops.begin(), chat.stops.end(), std::back_inserter(message.stop));
  request.stops = engine::StopMatcher{std::move(message.stop)};
  request.parser = std::move(chat.parser);
  request.preserved = std::move(chat.constraint.preserved);
  request.max_tokens = message.max_tokens;
  request.logprobs = message.logprobs;
  request.reuse_prefix = message.cache_prompt;
  request.domain = std::move(message.domain);
  request.plan_prefix = message.plan_prefix;
  request.return_tokens = message.return_tokens;
}

std::string echo_of(const Language& language, const wire::GenerateMessage& message,
                    const Prompt& prompt) {
  if (!message.echo) return {};
  const bool is_text = message.prompt_tokens.empty() && prompt.dropped_tokens == 0;
  return is_text ? prompt.chat.prompt : language.vocabulary.text(prompt.tokens, ShowSpecial::kYes);
}

Result<wire::TokenizedMessage> prepare_generate(const Language& language, Request& request) {
  auto decoded = wire::decode_generate(request.payload);
  if (!decoded) return Failed{std::move(decoded).error()};
  wire::GenerateMessage& message = *decoded;
  if (!language.generates && !message.count_only) {
    return fail(ErrorCode::kUnsupported, "this model gives embeddings and writes no text");
  }
  auto prompt = build_prompt(language, message);
  if (!prompt) return Failed{std::move(prompt).error()};
  if (prompt->tokens.empty()) {
    return Failed{Error{ErrorCode::kInvalid, "the prompt has no tokens"}.at("prompt")};
  }
  wire::TokenizedMessage reply;
  reply.dropped_messages = prompt->dropped_messages;
  reply.dropped_tokens = prompt->dropped_tokens;
  request.echo = echo_of(language, message, *prompt);
  request.prompt = std::move(prompt->tokens);
  request.count_only = message.count_only;
  request.context_limit = context_of(language, message);
  if (message.count_only) return reply;

  engine::RenderedChat& chat = prompt->chat;
  auto sampler = engine::Sampler::create(
      language.vocabulary, sampling_of(message, language.vocabulary), chat.constraint);
  if (!sampler) {
    Error error = std::move(sampler).error();
    return Failed{message.grammar.empty() ? std::move(error) : std::move(error).at("grammar")};
  }
  request.sampler.emplace(std::move(*sampler));
  request.sampler->accept_prompt(request.prompt);
  set_steering(message, chat, request);
  return reply;
}

// An input that is too long loses its end, but not the mark that ends every text. Returns how many
// tokens that were.
int cut_end(const engine::Vocabulary& vocabulary, int limit, std::vector<Token>& tokens) {
  const int dropped = std::max(static_cast<int>(tokens.size()) - limit, 0);
  if (dropped == 0) return 0;
  const Token last = tokens.back();
  tokens.resize(static_cast<std::size_t>(limit));
  if (vocabulary.ends_with_special() && limit > 0) tokens.back() = last;
  return dropped;
}

Result<wire::TokenizedMessage> prepare_embed(const Language& language, Request& request) {
  auto decoded = wire::decode_embed(request.payload);
  if (!decoded) return Failed{std::move(decoded).error()};
  wire::TokenizedMessage reply;
  const int limit = engine::embedding_limit(language.context_limit);
  for (const std::string& input : decoded->inputs) {
    std::vector<Token> tokens;
    if (decoded->truncate) {
      LongText text = read_beginning(language.vocabulary, input, limit);
      tokens = std::move(text.tokens);
      reply.dropped_tokens += cut_end(language.vocabulary, limit, tokens) + text.unread_tokens;
    } else {
      if (auto possible = check_length(language, input, limit); !possible) {
        return Failed{possible.error()};
      }
      tokens = language.vocabulary.tokenize(input, AddSpecial::kYes);
    }
    const int count = static_cast<int>(tokens.size());
    if (count > limit) return Failed{too_long(count, limit)};
    if (count == 0) return Failed{Error{ErrorCode::kInvalid, "an input is empty"}.at("input")};
    request.prompt.insert(request.prompt.end(), tokens.begin(), tokens.end());
    request.inputs.push_back(std::move(tokens));
  }
  return reply;
}

}  // namespace

Result<wire::TokenizedMessage> prepare(const Language& language, Request& request) {
  const bool generates = request.kind == RequestKind::kGenerate;
  auto message = generates ? prepare_generate(language, request) : prepare_embed(language, request);
  request.payload = {};
  if (!message) return message;
  message->tokens.assign(request.prompt.begin(), request.prompt.end());
  return message;
}

}  // namespace hearth::worker
