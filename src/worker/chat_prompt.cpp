// SPDX-License-Identifier: Apache-2.0
#include "worker/chat_prompt.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "base/json.h"
#include "worker/long_text.h"

namespace hearth::worker {
namespace json = boost::json;
namespace {

using engine::AddSpecial;
using engine::ChatRequest;
using engine::Thinking;
using engine::Token;
using Role = MessageSketch::Role;

Role role_of(const json::object& message) {
  const json::value* role = message.if_contains("role");
  const json::string* name = role != nullptr ? role->if_string() : nullptr;
  if (name == nullptr) return Role::kOther;
  if (*name == "system" || *name == "developer") return Role::kSystem;
  if (*name == "user") return Role::kUser;
  return *name == "assistant" ? Role::kAssistant : Role::kOther;
}

// All that a template may write of a message: its texts, wherever they stand.
void append_texts(const json::value& value, std::string& out) {
  if (const json::string* text = value.if_string()) {
    out.append(text->data(), text->size());
    out += '\n';
  } else if (const json::array* list = value.if_array()) {
    for (const json::value& item : *list) append_texts(item, out);
  } else if (const json::object* object = value.if_object()) {
    for (const auto& [key, member] : *object) {
      if (key != "role" && key != "type" && key != "id") append_texts(member, out);
    }
  }
}

// A conversation that is rendered again and again with other messages left out.
class Conversation {
 public:
  Conversation(const Language& language, const engine::ChatFormat& format,
               const ChatRequest& request, PromptRoom room, json::array messages)
      : language_{language},
        format_{format},
        request_{request},
        room_{room},
        messages_(std::move(messages)) {  // braces would make a list of the list
    for (const json::value& message : messages_) {
      std::string text;
      append_texts(message, text);
      const json::object* object = message.if_object();
      sketches_.push_back({object ? role_of(*object) : Role::kOther, text.size()});
    }
  }

  const std::vector<MessageSketch>& sketches() const { return sketches_; }

  Result<int> count(const Cut& cut) {
    ChatRequest request = request_;
    request.messages = text_of(cut);
    auto chat = format_.render(request);
    if (!chat) return Failed{std::move(chat).error()};
    Attempt attempt;
    attempt.cut = cut;
    int tokens = 0;
    if (auto possible = check_length(language_, chat->prompt, room_.most); !possible) {
      tokens = possible.error().counts().prompt_tokens;
    } else {
      attempt.prompt.tokens = language_.vocabulary.tokenize(chat->prompt, AddSpecial::kYes);
      tokens = static_cast<int>(attempt.prompt.tokens.size());
    }
    attempt.prompt.chat = std::move(*chat);
    if (tokens <= room_.most) attempts_.push_back(std::move(attempt));
    return tokens;
  }

  // A cut that was counted and fits.
  Prompt take(const Cut& cut) {
    const auto found = std::find_if(attempts_.begin(), attempts_.end(),
                                    [&](const Attempt& tried) { return tried.cut == cut; });
    Prompt prompt = std::move(found->prompt);
    std::string dropped;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (cut.keeps(i)) continue;
      ++prompt.dropped_messages;
      append_texts(messages_[i], dropped);
    }
    const LongText text =
        read_ends(language_.vocabulary, dropped, AddSpecial::kNo, {0, room_.most});
    prompt.dropped_tokens = static_cast<int>(text.tokens.size()) + text.unread_tokens;
    return prompt;
  }

 private:
  struct Attempt {
    Cut cut;
    Prompt prompt;
  };

  std::string text_of(const Cut& cut) const {
    std::string out = "[";
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (!cut.keeps(i)) continue;
      if (out.size() > 1) out += ',';
      out += json::serialize(messages_[i]);
    }
    return out += ']';
  }

  const Language& language_;
  const engine::ChatFormat& format_;
  const ChatRequest& request_;
  const PromptRoom room_;
  const json::array messages_;
  std::vector<MessageSketch> sketches_;
  std::vector<Attempt> attempts_;
};

}  // namespace

Result<ChatRequest> chat_request(const wire::GenerateMessage& message) {
  ChatRequest request{message.messages,        message.tools,           message.tool_choice,
                      message.response_schema, message.template_kwargs, Thinking::kByItself,
                      message.grammar};
  if (message.thinking.empty()) return request;
  if (message.thinking != "on" && message.thinking != "off") {
    return Failed{Error{ErrorCode::kInvalid, "reasoning is either on or off"}.at("think")};
  }
  request.thinking = message.thinking == "on" ? Thinking::kOn : Thinking::kOff;
  return request;
}

Result<Prompt> shortened_chat(const Language& language, const engine::ChatFormat& format,
                              const ChatRequest& request, PromptRoom room) {
  auto parsed = parse_json(request.messages);
  if (!parsed) return Failed{std::move(parsed).error().at("messages")};
  if (!parsed->is_array()) {
    return Failed{Error{ErrorCode::kInvalid, "a list of messages was expected"}.at("messages")};
  }
  Conversation conversation{language, format, request, room, std::move(parsed->get_array())};
  const auto cut = choose_cut(conversation.sketches(), room,
                              [&](const Cut& way) { return conversation.count(way); });
  if (!cut) return Failed{cut.error()};
  return conversation.take(*cut);
}

std::vector<Token> continued_tokens(const engine::Vocabulary& vocabulary,
                                    const std::string& rendered) {
  std::vector<Token> tokens = vocabulary.tokenize(rendered, AddSpecial::kNo);
  const auto bos = vocabulary.bos();
  // Where templates write it themselves, it stands once; a mark of each message stands more often.
  if (!bos || tokens.empty() || tokens.front() != *bos) return tokens;
  if (std::count(tokens.begin(), tokens.end(), *bos) == 1) tokens.erase(tokens.begin());
  return tokens;
}

}  // namespace hearth::worker
