// SPDX-License-Identifier: Apache-2.0
#include "cli/conversation.h"

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/reply.h"
#include "cli/timeline_view.h"
#include "cli/why.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kHelp =
    "/clear  forget what was said\n"
    "/why    where the time of the last reply went\n"
    "/help   this list\n"
    "/bye    leave, as ^D does; ^C stops a reply\n";

}  // namespace

int Conversation::run() {
  const auto model = session_.api.get("/api/hearth/models/" + percent_encode(options_.model));
  if (!model) return report(model.error(), session_.error);
  // From one line to its reply and back there is no moment at which ^C would end the conversation.
  const InterruptWatch watch;
  print(session_.out.paint(Paint::kDim, "/help lists the commands") + "\n");
  while (const auto line = editor_.read()) {
    if (take(*line) == Next::kLeave) return exit_code_;
  }
  print("\n");
  return exit_code_;
}

Conversation::Next Conversation::take(const std::string& line) {
  if (line.find_first_not_of(" \t") == std::string::npos) return Next::kGoOn;
  return line.starts_with('/') ? command(line) : ask(line);
}

Conversation::Next Conversation::command(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t") + 1);
  if (line == "/bye" || line == "/exit" || line == "/quit") return Next::kLeave;
  if (line == "/clear") {
    messages_.clear();
  } else if (line == "/why") {
    why(session_, "last");
  } else {
    if (line != "/help" && line != "/?") print(fmt::format("{} is no command:\n", line));
    print(kHelp);
  }
  return Next::kGoOn;
}

// A reply that did not come takes its question along, so that the roles keep alternating.
Conversation::Next Conversation::ask(const std::string& question) {
  messages_.push_back({"user", question});
  auto reply = show_reply(session_, chat_body(options_, messages_, Streaming::kYes));
  if (!reply) {
    messages_.pop_back();
    if (reply.error().code() == ErrorCode::kCancelled) {
      print("\n");
      return Next::kGoOn;
    }
    const int code = report(reply.error(), session_.error);
    if (code != kExitNoServer) return Next::kGoOn;
    exit_code_ = code;
    return Next::kLeave;
  }
  messages_.push_back({"assistant", std::move(reply->text)});
  const std::string summary =
      reply_summary(reply->end.hearth, reply->end.timings, reply->first_token_ms);
  if (!summary.empty()) print(session_.out.paint(Paint::kDim, summary) + "\n");
  return Next::kGoOn;
}

}  // namespace hearth::cli
