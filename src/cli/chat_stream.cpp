// SPDX-License-Identifier: Apache-2.0
#include "cli/chat_stream.h"

#include "base/json.h"
#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kProgress = ": progress ";

}  // namespace

ChatStream::ChatStream(Handlers handlers)
    : handlers_{std::move(handlers)}, lines_{[this](std::string_view line) { take_line(line); }} {}

void ChatStream::take_line(std::string_view line) {
  if (line.starts_with(kProgress)) {
    take_progress(line.substr(kProgress.size()));
  } else if (const auto data = http::event_data(line)) {
    take_chunk(*data);
  }
}

void ChatStream::take_progress(std::string_view json) {
  const auto parsed = parse_json(json);
  if (!parsed || !parsed->is_object() || !handlers_.on_progress) return;
  handlers_.on_progress(progress_note(parsed->get_object()));
}

void ChatStream::take_chunk(std::string_view json) {
  const auto parsed = parse_json(json);  // "[DONE]" is no JSON
  if (!parsed || !parsed->is_object()) return;
  const boost::json::object& chunk = parsed->get_object();
  if (const auto* error = object_in(chunk, "error")) {
    end_.error = text_in(*error, "message");
    if (end_.error.empty()) end_.error = "the server reported an error without a message";
  }
  if (const auto* hearth = object_in(chunk, "hearth")) end_.hearth = *hearth;
  if (const auto* timings = object_in(chunk, "timings")) end_.timings = *timings;
  const auto* choices = array_in(chunk, "choices");
  if (choices != nullptr && !choices->empty() && choices->front().is_object()) {
    take_choice(choices->front().get_object());
  }
}

void ChatStream::take_choice(const boost::json::object& choice) {
  if (const std::string reason = text_in(choice, "finish_reason"); !reason.empty()) {
    end_.finish_reason = reason;
  }
  const auto* delta = object_in(choice, "delta");
  if (delta == nullptr) return;
  const std::string reasoning = text_in(*delta, "reasoning_content");
  if (!reasoning.empty() && handlers_.on_reasoning) handlers_.on_reasoning(reasoning);
  const std::string text = text_in(*delta, "content");
  if (!text.empty() && handlers_.on_text) handlers_.on_text(text);
}

}  // namespace hearth::cli
