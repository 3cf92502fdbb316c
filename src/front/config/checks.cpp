// SPDX-License-Identifier: Apache-2.0
#include "front/config/checks.h"

#include <algorithm>

#include "front/config/listen.h"
#include "layers/artifact/model_name.h"

namespace hearth::front {
namespace {

constexpr std::string_view kWordCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

bool is_host_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kWordCharacters) == std::string_view::npos;
}

// "*" may stand for any part of it, as Ollama's users write it: "app://*", "http://localhost:*".
bool is_origin(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || !is_host_name(text.substr(0, colon))) return false;
  const std::string_view host = text.substr(colon + 3);
  return !host.empty() && host.find_first_of("/?# \t@") == std::string_view::npos;
}

Failed not_that(std::string_view wanted, const std::string& text) {
  return fail(ErrorCode::kInvalid,
              "must be " + std::string{wanted} + ", not \"" + text.substr(0, 100) + "\"");
}

}  // namespace

Result<> check_listen(const std::string& text) {
  if (text.find("://") != std::string::npos || text.find('/') != std::string::npos) {
    return not_that("ADDRESS:PORT without anything before or after", text);
  }
  const auto address = parse_listen(text);
  if (!address) return fail(ErrorCode::kInvalid, "cannot be used: " + address.error().message());
  return {};
}

Result<> check_host(const std::string& text) {
  if (!is_host_name(text)) return not_that("names without scheme and port", text);
  return {};
}

Result<> check_origin(const std::string& text) {
  if (text == "*" || is_origin(text)) return {};
  return not_that("\"*\" or origins such as \"https://chat.home.example\", without a path", text);
}

Result<> check_model_name(const std::string& text) {
  const auto name = ModelName::parse(text);
  if (!name) return fail(ErrorCode::kInvalid, "must be model names: " + name.error().message());
  return {};
}

}  // namespace hearth::front
