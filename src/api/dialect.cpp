// SPDX-License-Identifier: Apache-2.0
#include "api/dialect.h"

#include <algorithm>
#include <array>

namespace hearth::api {

std::string_view name_of(Dialect dialect) {
  static constexpr std::array<std::string_view, 5> kNames{"openai", "anthropic", "ollama", "hearth",
                                                          "openai"};
  return kNames[static_cast<std::size_t>(dialect)];
}

Dialect dialect_of(const http::HttpRequest& request) {
  const std::string_view path = request.path;
  const auto under = [path](std::string_view root) {
    return path == root || (path.starts_with(root) && path.substr(root.size()).starts_with('/'));
  };
  if (under("/v1/messages")) return Dialect::kAnthropic;
  if (under("/v1") && request.header("anthropic-version")) return Dialect::kAnthropic;
  if (under("/v1/responses")) return Dialect::kResponses;
  if (under("/v1") || under("/api/v1")) return Dialect::kOpenAi;
  static constexpr std::array<std::string_view, 4> kLlamaServer{"/health", "/props", "/slots",
                                                                "/tokenize"};
  if (std::ranges::find(kLlamaServer, path) != kLlamaServer.end()) return Dialect::kOpenAi;
  if (under("/api") && !under("/api/hearth")) return Dialect::kOllama;
  return Dialect::kHearth;
}

}  // namespace hearth::api
