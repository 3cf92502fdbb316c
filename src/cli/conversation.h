// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/chat.h"
#include "cli/line_editor.h"
#include "cli/session.h"

namespace hearth::cli {

// A chat in the terminal: what was said so far goes along with every question. ^C stops a reply, ^D
// or /bye ends the conversation.
class Conversation {
 public:
  Conversation(const Session& session, ChatOptions options)
      : session_{session}, options_{std::move(options)}, editor_{">>> "} {}

  // Until the user leaves. Returns the process's exit code.
  int run();

 private:
  enum class Next { kGoOn, kLeave };
  Next take(const std::string& line);
  Next command(std::string_view line);
  Next ask(const std::string& question);

  const Session& session_;
  ChatOptions options_;
  LineEditor editor_;
  std::vector<ChatMessage> messages_;
  int exit_code_ = kExitOk;
};

}  // namespace hearth::cli
