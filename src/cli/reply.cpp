// SPDX-License-Identifier: Apache-2.0
#include "cli/reply.h"

#include "base/clock.h"
#include "cli/interruptible_stream.h"
#include "cli/progress_bar.h"

namespace hearth::cli {
namespace {

// Draws what comes. Used by one thread at a time.
class ReplyPrinter {
 public:
  explicit ReplyPrinter(const Session& session)
      : style_{session.out},
        bar_{stderr, session.error},
        begun_{Clock::real().now()},
        stream_{{.on_progress = [this](const ProgressNote& note) { bar_.update(note); },
                 .on_text = [this](std::string_view text) { take_text(text); },
                 .on_reasoning = [this](std::string_view text) { take_reasoning(text); }}} {}

  void feed(std::string_view bytes) { stream_.feed(bytes); }

  ShownReply finish() {
    bar_.clear();
    if (!text_.empty() && !text_.ends_with('\n')) print("\n");
    return {std::move(text_), stream_.end(), first_token_ms_};
  }

 private:
  void begin() {
    bar_.clear();
    if (first_token_ms_ == 0) first_token_ms_ = milliseconds_of(Clock::real().now() - begun_);
  }

  void take_text(std::string_view text) {
    begin();
    if (reasoning_) print("\n\n");
    reasoning_ = false;
    print(text);
    text_ += text;
  }

  void take_reasoning(std::string_view text) {
    begin();
    if (!style_.terminal) return;
    print(style_.paint(Paint::kDim, text));
    reasoning_ = true;
  }

  OutputStyle style_;
  ProgressBar bar_;
  TimePoint begun_;
  ChatStream stream_;
  std::string text_;
  double first_token_ms_ = 0;
  bool reasoning_ = false;
};

}  // namespace

Result<ShownReply> show_reply(const Session& session, const std::string& body) {
  ReplyPrinter printer{session};
  const Result<> read =
      stream_until_interrupt(session.api, "/v1/chat/completions", body,
                             [&printer](std::string_view bytes) { printer.feed(bytes); });
  ShownReply reply = printer.finish();
  if (!read) return Failed{read.error()};
  if (!reply.end.error.empty()) return fail(ErrorCode::kInternal, reply.end.error);
  if (reply.end.finish_reason.empty()) {
    return fail(ErrorCode::kUnavailable, "the connection broke before the reply was complete");
  }
  return reply;
}

}  // namespace hearth::cli
