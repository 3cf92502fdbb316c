// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/reply_format.h"
#include "base/clock.h"

namespace hearth::api::ollama {

// What a line holds beside what all lines hold: a `message` with role, content, thinking and calls,
// or `response` and thinking.
enum class Shape { kChat, kGenerate };

inline constexpr std::string_view kNdjson = "application/x-ndjson";
inline constexpr std::string_view kJson = "application/json; charset=utf-8";

// Lines of newline-delimited JSON. Of a call to a tool nothing is sent before all of it is there,
// because clients want its arguments as an object; what is cut off within one comes as text.
// `clock` must outlive the format.
std::unique_ptr<ReplyFormat> line_format(ReplyIdentity identity, Shape shape, const Clock& clock);

// The only line of a request that just loaded or unloaded its model: `reason` says which. Without
// a report nothing was timed.
std::string done_line(const std::string& model, Shape shape, const Clock& clock,
                      std::string_view reason, const RequestReport& report);

}  // namespace hearth::api::ollama
