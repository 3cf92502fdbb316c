// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hearth::cli {

// What `hearth run` asks for; what is unset is left to the server and the model.
struct ChatOptions {
  std::string model{};
  std::string system{};
  std::optional<int> max_tokens{};
  std::optional<double> temperature{};
  std::optional<std::int64_t> seed{};
  std::string keep_alive{};
};

struct ChatMessage {
  std::string role;  // "user", "assistant"
  std::string content;
};

enum class Streaming { kNo, kYes };

// The body of a POST to /v1/chat/completions: the system message of `options` first, then
// `messages`.
std::string chat_body(const ChatOptions& options, const std::vector<ChatMessage>& messages,
                      Streaming streaming);

}  // namespace hearth::cli
