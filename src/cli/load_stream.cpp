// SPDX-License-Identifier: Apache-2.0
#include "cli/load_stream.h"

#include "base/json.h"
#include "cli/api_client.h"
#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

constexpr int kServerError = 500;

}  // namespace

LoadStream::LoadStream(std::function<void(const ProgressNote&)> on_progress)
    : on_progress_{std::move(on_progress)},
      lines_{[this](std::string_view line) { take_line(line); }} {}

void LoadStream::take_line(std::string_view line) {
  const auto parsed = parse_json(line);
  if (!parsed || !parsed->is_object()) return;
  if (const auto* progress = object_in(parsed->get_object(), "progress")) {
    on_progress_(progress_note(*progress));
  } else {
    last_ = line;
  }
}

Result<std::string> LoadStream::finish() {
  lines_.finish();
  if (last_.empty()) {
    return fail(ErrorCode::kUnavailable, "the connection broke before the model was ready");
  }
  const auto parsed = parse_json(last_);
  if (parsed->get_object().contains("error")) return Failed{error_of(kServerError, last_)};
  return last_;
}

}  // namespace hearth::cli
