// SPDX-License-Identifier: Apache-2.0
#include "api/router.h"

#include <optional>

namespace hearth::api {
namespace {

// What the pattern's braces took; nullopt when the path is another one.
std::optional<std::string_view> argument_of(std::string_view pattern, std::string_view path) {
  const std::size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) {
    return pattern == path ? std::optional{std::string_view{}} : std::nullopt;
  }
  if (!path.starts_with(pattern.substr(0, brace))) return std::nullopt;
  const std::string_view tail = pattern.substr(pattern.find('}') + 1);
  std::string_view argument = path.substr(brace);
  if (argument.size() <= tail.size() || !argument.ends_with(tail)) return std::nullopt;
  argument.remove_suffix(tail.size());
  const bool one_part = pattern.substr(brace).starts_with("{id}");
  if (one_part && argument.find('/') != std::string_view::npos) return std::nullopt;
  return argument;
}

void add_allowed(std::string& allowed, std::string_view method) {
  if (!allowed.empty()) allowed += ", ";
  allowed += method;
  if (method == "GET") allowed += ", HEAD";
}

}  // namespace

Match Router::match(std::string_view method, std::string_view path) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  std::string allowed;
  for (const Route& route : routes_) {
    const auto argument = argument_of(route.pattern, path);
    if (!argument) continue;
    if (route.method == wanted || route.method == method) {
      return Found{&route, std::string{*argument}};
    }
    add_allowed(allowed, route.method);
  }
  if (allowed.empty()) return UnknownPath{};
  return WrongMethod{std::move(allowed)};
}

}  // namespace hearth::api
