// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <fmt/format.h>

#include "base/json.h"

namespace hearth::cli {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

int report(const Error& error, const OutputStyle& style) {
  fmt::print(stderr, "{} {}\n", style.paint(Paint::kRed, "hearth:"), error.message());
  return error.code() == ErrorCode::kUnavailable ? kExitNoServer : kExitFailed;
}

Result<boost::json::object> object_of(const Result<std::string>& answer) {
  if (!answer) return Failed{answer.error()};
  auto parsed = parse_json(*answer);
  if (!parsed) return Failed{std::move(parsed).error().during("the server's answer")};
  if (!parsed->is_object()) return fail(ErrorCode::kInternal, "the server's answer is no object");
  return std::move(parsed->get_object());
}

}  // namespace hearth::cli
