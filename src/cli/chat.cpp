// SPDX-License-Identifier: Apache-2.0
#include "cli/chat.h"

#include <boost/json.hpp>

namespace hearth::cli {

std::string chat_body(const ChatOptions& options, const std::vector<ChatMessage>& messages,
                      Streaming streaming) {
  boost::json::array list;
  if (!options.system.empty()) {
    list.push_back(boost::json::object{{"role", "system"}, {"content", options.system}});
  }
  for (const ChatMessage& message : messages) {
    list.push_back(boost::json::object{{"role", message.role}, {"content", message.content}});
  }
  boost::json::object body{{"model", options.model}, {"messages", std::move(list)}};
  if (options.max_tokens) body["max_tokens"] = *options.max_tokens;
  if (options.temperature) body["temperature"] = *options.temperature;
  if (options.seed) body["seed"] = *options.seed;
  if (!options.keep_alive.empty()) body["keep_alive"] = options.keep_alive;
  if (streaming == Streaming::kYes) {
    body["stream"] = true;
    body["return_progress"] = true;
  }
  return boost::json::serialize(body);
}

}  // namespace hearth::cli
