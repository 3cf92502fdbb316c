// SPDX-License-Identifier: Apache-2.0
#include "worker/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/embedder.h"

namespace hearth::worker {
namespace {

using engine::AddSpecial;
using engine::RenderedChat;
using engine::ShowSpecial;
using engine::Token;

engine::SamplingOptions sampling_of(const wire::GenerateMessage& message) {
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
  return to;
}

Error too_long(int tokens, int limit) {
  return Error{ErrorCode::kTooLong,
               fmt::format("the prompt has {} tokens; the context takes {}", tokens, limit)}
      .with_counts({tokens, limit});
}

// A text far over the context would take longer to tokenize than the front waits for a sign of
// life, and hold up everybody else's.
Result<> check_length(const Language& language, const std::string& text, int limit) {
  const std::size_t fewest = language.vocabulary.fewest_tokens(text);
  if (fewest <= static_cast<std::size_t>(std::max(limit, 0))) return {};
  const int tokens = static_cast<int>(fewest);
  return Failed{
      Error{ErrorCode::kTooLong,
            fmt::format("the prompt has at least {} tokens; the context takes {}", tokens, limit)}
          .with_counts({tokens, limit})};
}

Result<RenderedChat> render(const Language& language, const wire::GenerateMessage& message) {
  if (!message.messages.empty()) {
    return language.format.render({message.messages, message.tools, message.tool_choice,
                                   message.response_schema, message.template_kwargs});
  }
  RenderedChat raw;
  raw.prompt = message.prompt;
  if (message.response_schema.empty()) return raw;
  auto constraint = engine::constrain_to_schema(message.response_schema);
  if (!constraint) return Failed{std::move(constraint).error()};
  raw.constraint = std::move(*constraint);
  return raw;
}

Result<std::vector<Token>> tokens_of(const Language& language, const wire::GenerateMessage& message,
                                     const std::string& prompt) {
  if (message.prompt_tokens.empty()) {
    const auto possible = check_length(language, prompt, language.context_limit);
    if (!possible) return Failed{possible.error()};
    const bool is_chat = !message.messages.empty();
    const bool special = is_chat || message.add_special;
    return language.vocabulary.tokenize(prompt, special ? AddSpecial::kYes : AddSpecial::kNo);
  }
  for (const int token : message.prompt_tokens) {
    if (language.vocabulary.contains(token)) continue;
    return Failed{Error{ErrorCode::kInvalid, fmt::format("{} is no token of this model", token)}.at(
        "prompt")};
  }
  return std::vector<Token>{message.prompt_tokens.begin(), message.prompt_tokens.end()};
}

Result<> set_prompt(const Language& language, const wire::GenerateMessage& message,
                    const std::string& text, Request& request) {
  auto tokens = tokens_of(language, message, text);
  if (!tokens) return Failed{std::move(tokens).error()};
  request.prompt = std::move(*tokens);
  const int count = static_cast<int>(request.prompt.size());
  if (count > language.context_limit) return Failed{too_long(count, language.context_limit)};
  if (count == 0) {
    return Failed{Error{ErrorCode::kInvalid, "the prompt has no tokens"}.at("prompt")};
  }
  if (!message.echo) return {};
  request.echo = message.prompt_tokens.empty()
                     ? text
                     : language.vocabulary.text(request.prompt, ShowSpecial::kYes);
  return {};
}

Result<> prepare_generate(const Language& language, Request& request) {
  auto decoded = wire::decode_generate(request.payload);
  if (!decoded) return Failed{std::move(decoded).error()};
  if (!language.generates) {
    return fail(ErrorCode::kUnsupported, "this model gives embeddings and writes no text");
  }
  wire::GenerateMessage& message = *decoded;
  auto rendered = render(language, message);
  if (!rendered) return Failed{std::move(rendered).error()};
  if (auto set = set_prompt(language, message, rendered->prompt, request); !set) return set;

  auto sampler =
      engine::Sampler::create(language.vocabulary, sampling_of(message), rendered->constraint);
  if (!sampler) return Failed{std::move(sampler).error()};
  request.sampler.emplace(std::move(*sampler));
  request.sampler->accept_prompt(request.prompt);
  std::move(rendered->stops.begin(), rendered->stops.end(), std::back_inserter(message.stop));
  request.stops = engine::StopMatcher{std::move(message.stop)};
  request.parser = std::move(rendered->parser);
  request.preserved = std::move(rendered->constraint.preserved);
  request.max_tokens = message.max_tokens;
  request.reuse_prefix = message.cache_prompt;
  return {};
}

Result<> prepare_embed(const Language& language, Request& request) {
  auto decoded = wire::decode_embed(request.payload);
  if (!decoded) return Failed{std::move(decoded).error()};
  const int limit = engine::embedding_limit(language.context_limit);
  for (const std::string& input : decoded->inputs) {
    if (auto possible = check_length(language, input, limit); !possible) return possible;
    std::vector<Token> tokens = language.vocabulary.tokenize(input, AddSpecial::kYes);
    const int count = static_cast<int>(tokens.size());
    if (count > limit) return Failed{too_long(count, limit)};
    if (count == 0) return Failed{Error{ErrorCode::kInvalid, "an input is empty"}.at("input")};
    request.prompt.insert(request.prompt.end(), tokens.begin(), tokens.end());
    request.inputs.push_back(std::move(tokens));
  }
  return {};
}

}  // namespace

Result<wire::TokenizedMessage> prepare(const Language& language, Request& request) {
  const bool generates = request.kind == RequestKind::kGenerate;
  const auto done =
      generates ? prepare_generate(language, request) : prepare_embed(language, request);
  request.payload = {};
  if (!done) return Failed{done.error()};
  wire::TokenizedMessage message;
  message.tokens.assign(request.prompt.begin(), request.prompt.end());
  return message;
}

}  // namespace hearth::worker
