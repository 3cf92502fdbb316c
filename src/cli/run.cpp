// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/conversation.h"
#include "cli/reply.h"
#include "cli/timeline_view.h"

namespace hearth::cli {
namespace {

std::string read_standard_input() {
  std::string text;
  char chunk[16 << 10];
  while (const std::size_t n = std::fread(chunk, 1, sizeof chunk, stdin)) text.append(chunk, n);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// Input that waits in a pipe or file belongs to the question; a terminal is for a conversation.
std::string question_of(const std::vector<std::string>& words) {
  std::string question = fmt::format("{}", fmt::join(words, " "));
  if (::isatty(STDIN_FILENO) == 1) return question;
  const std::string piped = read_standard_input();
  if (!question.empty() && !piped.empty()) question += "\n\n";
  return question + piped;
}

int print_whole_reply(const Session& session, const std::string& body) {
  const auto answer = session.api.post("/v1/chat/completions", body);
  if (!answer) return report(answer.error());
  print(*answer + "\n");
  return kExitOk;
}

void print_summary(const ShownReply& reply, const OutputStyle& style) {
  const std::string summary =
      reply_summary(reply.end.hearth, reply.end.timings, reply.first_token_ms);
  if (!summary.empty()) fmt::print(stderr, "{}\n", style.paint(Paint::kDim, summary));
}

}  // namespace

int run_model(const Session& session, const ChatOptions& options,
              const std::vector<std::string>& prompt) {
  const std::string question = question_of(prompt);
  if (question.empty()) {
    if (::isatty(STDIN_FILENO) == 1 && session.out.terminal && !session.json()) {
      return Conversation{session, options}.run();
    }
    return report(Error{ErrorCode::kInvalid, "there is no prompt: give one, or pipe it in"});
  }
  const std::vector<ChatMessage> messages{{"user", question}};
  if (session.json()) {
    return print_whole_reply(session, chat_body(options, messages, Streaming::kNo));
  }
  const auto reply = show_reply(session, chat_body(options, messages, Streaming::kYes));
  if (reply) {
    if (session.out.terminal && session.error.terminal) print_summary(*reply, session.error);
    return kExitOk;
  }
  if (reply.error().code() == ErrorCode::kCancelled) return kExitInterrupted;
  return report(reply.error());
}

}  // namespace hearth::cli
