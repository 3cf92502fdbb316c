// SPDX-License-Identifier: Apache-2.0
#include "cli/reply.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "cli/interrupt.h"
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

// A reply under way. After ^C the caller leaves at once; the thread that reads lives on until the
// next byte comes, notices that it was abandoned, and hangs up.
struct Reading {
  Reading(const Session& s, std::string b) : api{s.api}, body{std::move(b)}, printer{s} {}

  bool take(std::string_view bytes) {
    std::lock_guard lock{mutex};
    if (abandoned) return false;
    printer.feed(bytes);
    return true;
  }

  const ApiClient api;
  const std::string body;
  std::mutex mutex;
  ReplyPrinter printer;             // guarded by mutex
  bool abandoned = false;           // guarded by mutex
  std::optional<Result<>> outcome;  // guarded by mutex
};

void read_reply(const std::shared_ptr<Reading>& reading) {
  Result<> outcome =
      reading->api.stream("/v1/chat/completions", reading->body,
                          [&](std::string_view bytes) { return reading->take(bytes); });
  std::lock_guard lock{reading->mutex};
  reading->outcome = std::move(outcome);
  if (!reading->abandoned) InterruptWatch::wake();
}

Result<ShownReply> result_of(Reading& reading) {
  std::lock_guard lock{reading.mutex};
  ShownReply reply = reading.printer.finish();
  if (!reading.outcome) {
    reading.abandoned = true;
    return fail(ErrorCode::kCancelled, "stopped");
  }
  if (!*reading.outcome) return Failed{std::move(*reading.outcome).error()};
  if (!reply.end.error.empty()) return fail(ErrorCode::kInternal, reply.end.error);
  if (reply.end.finish_reason.empty()) {
    return fail(ErrorCode::kUnavailable, "the connection broke before the reply was complete");
  }
  return reply;
}

}  // namespace

Result<ShownReply> show_reply(const Session& session, const std::string& body) {
  InterruptWatch watch;
  // shared_ptr: the reading thread, and this function, which may leave first.
  const auto reading = std::make_shared<Reading>(session, body);
  std::thread reader{read_reply, reading};
  watch.wait();
  auto result = result_of(*reading);
  if (!result && result.error().code() == ErrorCode::kCancelled) {
    reader.detach();
  } else {
    reader.join();
  }
  return result;
}

}  // namespace hearth::cli
