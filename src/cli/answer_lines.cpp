// SPDX-License-Identifier: Apache-2.0
#include "cli/answer_lines.h"

#include "base/json.h"
#include "cli/api_client.h"

namespace hearth::cli {
namespace {

constexpr int kServerError = 500;

}  // namespace

AnswerLines::AnswerLines(Take take)
    : take_{std::move(take)}, lines_{[this](std::string_view line) { take_line(line); }} {}

void AnswerLines::take_line(std::string_view line) {
  const auto parsed = parse_json(line);
  if (!parsed || !parsed->is_object()) return;
  if (!take_(parsed->get_object())) last_ = line;
}

Result<std::string> AnswerLines::finish() {
  lines_.finish();
  if (last_.empty()) {
    return fail(ErrorCode::kUnavailable, "the connection broke before it was done");
  }
  const auto parsed = parse_json(last_);
  if (parsed->get_object().contains("error")) return Failed{error_of(kServerError, last_)};
  return last_;
}

}  // namespace hearth::cli
