// SPDX-License-Identifier: Apache-2.0
#include "worker/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "worker/chat_prompt.h"
#include "worker/long_text.h"
#include "worker/truncate.h"

namespace hearth::worker {
namespace {

using engine::AddSpecial;
using engine::Token;
using wire::GenerateMessage;

// Counted whatever the context is: it takes a second or two.
constexpr std::size_t kCountedAlways = std::size_t{4} << 20;

Result<std::vector<Token>> given_tokens(const Language& language, const GenerateMessage& message) {
  for (const int token : message.prompt_tokens) {
    if (language.vocabulary.contains(token)) continue;
    return Failed{Error{ErrorCode::kInvalid, fmt::format("{} is no token of this model", token)}.at(
        "prompt")};
  }
  return std::vector<Token>{message.prompt_tokens.begin(), message.prompt_tokens.end()};
}

// With the BOS, if the prompt begins with one.
int head_of(const Language& language, const GenerateMessage& message,
            const std::vector<Token>& tokens) {
  const bool begins = !tokens.empty() && language.vocabulary.bos() == tokens.front();
  return std::min(message.keep, std::numeric_limits<int>::max() - 1) + (begins ? 1 : 0);
}

void shorten(const Language& language, const GenerateMessage& message, int most, Prompt& prompt) {
  const int head = head_of(language, message, prompt.tokens);
  prompt.dropped_tokens += cut_middle(prompt.tokens, head, most);
}

Result<> check_count(const Language& language, const GenerateMessage& message,
                     const Prompt& prompt) {
  const int limit = context_of(language, message);
  const int count = static_cast<int>(prompt.tokens.size());
  if (count > limit && !message.count_only) return Failed{too_long(count, limit)};
  return {};
}

Result<> check_text(const Language& language, const GenerateMessage& message,
                    const std::string& text) {
  if (message.count_only && text.size() <= kCountedAlways) return {};
  return check_length(language, text, context_of(language, message));
}

Result<engine::Constraint> constraint_of(const GenerateMessage& message) {
  if (!message.grammar.empty()) return engine::constrain_to_grammar(message.grammar);
  if (message.response_schema.empty()) return engine::Constraint{};
  return engine::constrain_to_schema(message.response_schema);
}

// A text with a gap after it, as models have been taught to see one.
Result<std::vector<Token>> gap_tokens(const Language& language, const GenerateMessage& message) {
  const engine::Vocabulary& vocabulary = language.vocabulary;
  const auto marks = vocabulary.gap_marks();
  if (!marks) {
    return Failed{Error{ErrorCode::kInvalid,
                        "this model cannot fill in a gap: its vocabulary has "
                        "no marks for one; leave suffix out"}
                      .at("suffix")};
  }
  for (const std::string* text : {&message.prompt, &message.suffix}) {
    auto possible = check_length(language, *text, context_of(language, message));
    if (!possible) return Failed{possible.error()};
  }
  // Only the beginning of all has what begins a text.
  std::vector<Token> tokens = vocabulary.tokenize("", AddSpecial::kYes);
  const auto add = [&](Token mark, const std::string& text) {
    tokens.push_back(mark);
    const std::vector<Token> more = vocabulary.tokenize(text, AddSpecial::kNo);
    tokens.insert(tokens.end(), more.begin(), more.end());
  };
  add(marks->before, message.prompt);
  add(marks->after, message.suffix);
  tokens.push_back(marks->fill);
  return tokens;
}

Result<Prompt> raw_prompt(const Language& language, const GenerateMessage& message) {
  Prompt prompt;
  prompt.chat.prompt = message.prompt;
  auto constraint = constraint_of(message);
  if (!constraint) return Failed{std::move(constraint).error()};
  prompt.chat.constraint = std::move(*constraint);
  if (!message.suffix.empty()) {
    auto tokens = gap_tokens(language, message);
    if (!tokens) return Failed{std::move(tokens).error()};
    prompt.tokens = std::move(*tokens);
    return prompt;
  }
  const PromptRoom room = prompt_room(context_of(language, message), message.max_tokens);
  const AddSpecial special = message.add_special ? AddSpecial::kYes : AddSpecial::kNo;
  if (!message.prompt_tokens.empty()) {
    auto tokens = given_tokens(language, message);
    if (!tokens) return Failed{std::move(tokens).error()};
    prompt.tokens = std::move(*tokens);
  } else if (message.truncate) {
    LongText text =
        read_ends(language.vocabulary, message.prompt, special, {message.keep, room.most});
    prompt.tokens = std::move(text.tokens);
    prompt.dropped_tokens = text.unread_tokens;
  } else {
    if (auto possible = check_text(language, message, message.prompt); !possible) {
      return Failed{possible.error()};
    }
    prompt.tokens = language.vocabulary.tokenize(message.prompt, special);
  }
  const bool over = static_cast<int>(prompt.tokens.size()) > room.most;
  if (message.truncate && over) shorten(language, message, room.wanted, prompt);
  return prompt;
}

// What was said before the messages comes first, and is dropped first.
Result<> put_before(const Language& language, const GenerateMessage& message, Prompt& prompt) {
  auto earlier = given_tokens(language, message);
  if (!earlier) return Failed{std::move(earlier).error()};
  std::vector<Token> later = continued_tokens(language.vocabulary, prompt.chat.prompt);
  const PromptRoom room = prompt_room(context_of(language, message), message.max_tokens);
  const int count = static_cast<int>(later.size());
  const bool over = static_cast<int>(earlier->size()) > room.most - count;
  if (message.truncate && (over || prompt.dropped_messages > 0)) {
    const int left = prompt.dropped_messages > 0 ? 0 : std::max(room.wanted - count, 0);
    const int before = static_cast<int>(earlier->size());
    if (left == 0) {
      prompt.dropped_tokens += before;
      return {};  // prompt.tokens begin as a conversation does
    }
    prompt.dropped_tokens += cut_middle(*earlier, head_of(language, message, *earlier), left);
  }
  prompt.tokens = std::move(*earlier);
  prompt.tokens.insert(prompt.tokens.end(), later.begin(), later.end());
  return {};
}

Result<const engine::ChatFormat*> format_of(const Language& language,
                                            const GenerateMessage& message) {
  if (message.chat_template.empty()) return &language.format;
  return language.templates.get(message.chat_template);
}

Result<Prompt> messages_prompt(const Language& language, const GenerateMessage& message) {
  auto request = chat_request(message);
  if (!request) return Failed{std::move(request).error()};
  auto format = format_of(language, message);
  if (!format) return Failed{std::move(format).error()};
  if (message.truncate) {
    return shortened_chat(language, **format, *request,
                          prompt_room(context_of(language, message), message.max_tokens));
  }
  auto chat = (*format)->render(*request);
  if (!chat) return Failed{std::move(chat).error()};
  if (auto possible = check_text(language, message, chat->prompt); !possible) {
    return Failed{possible.error()};
  }
  Prompt prompt;
  prompt.chat = std::move(*chat);
  prompt.tokens = language.vocabulary.tokenize(prompt.chat.prompt, AddSpecial::kYes);
  return prompt;
}

}  // namespace

int context_of(const Language& language, const GenerateMessage& message) {
  if (message.context_limit <= 0) return language.context_limit;
  return std::min(message.context_limit, language.context_limit);
}

Result<> check_length(const Language& language, const std::string& text, int limit) {
  const std::size_t fewest = language.vocabulary.fewest_tokens(text);
  if (fewest <= static_cast<std::size_t>(std::max(limit, 0))) return {};
  const int tokens = static_cast<int>(fewest);
  return Failed{
      Error{ErrorCode::kTooLong,
            fmt::format("the prompt has at least {} tokens; the context takes {}", tokens, limit)}
          .with_counts({tokens, limit})};
}

Result<Prompt> build_prompt(const Language& language, const GenerateMessage& message) {
  const bool is_chat = !message.messages.empty();
  if (!is_chat && message.thinking == "on") {
    return Failed{Error{ErrorCode::kInvalid,
                        "a raw prompt goes by no template that could reason; leave think out"}
                      .at("think")};
  }
  auto prompt = is_chat ? messages_prompt(language, message) : raw_prompt(language, message);
  if (!prompt) return prompt;
  if (is_chat && !message.prompt_tokens.empty()) {
    if (auto put = put_before(language, message, *prompt); !put) return Failed{put.error()};
  }
  if (auto fits = check_count(language, message, *prompt); !fits) return Failed{fits.error()};
  return prompt;
}

}  // namespace hearth::worker
