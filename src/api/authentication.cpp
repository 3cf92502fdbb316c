// SPDX-License-Identifier: Apache-2.0
#include "api/authentication.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "api/errors.h"
#include "base/text.h"

namespace hearth::api {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// The key in one header; nothing where it is another header, or holds none.
std::string_view key_in(const http::Header& header) {
  if (same_word(header.name, "x-api-key")) return trimmed(header.value, " ");
  if (!same_word(header.name, "Authorization")) return {};
  const std::string_view value = trimmed(header.value, " ");
  const std::size_t space = std::min(value.find(' '), value.size());
  return same_word(value.substr(0, space), "Bearer") ? trimmed(value.substr(space), " ")
                                                     : std::string_view{};
}

using Shown = std::variant<std::string_view, Rejection>;

Shown shown_key(const http::HttpRequest& request) {
  std::string_view key;
  for (const http::Header& header : request.headers) {
    const std::string_view other = key_in(header);
    if (other.empty() || other == key) continue;
    if (!key.empty()) {
      return Rejection{401, "conflicting", "Authorization and x-api-key hold different keys", {}};
    }
    key = other;
  }
  if (!key.empty()) return key;
  const auto authorization = request.header("Authorization");
  if (authorization && !trimmed(*authorization, " ").empty()) {
    return Rejection{
        401, "malformed", "the Authorization header holds no key; \"Bearer KEY\" is expected", {}};
  }
  return Rejection{401,
                   "missing",
                   "this server wants a key, as \"Authorization: Bearer KEY\" or \"x-api-key: "
                   "KEY\"; its admin makes one with `hearth keys add`",
                   {}};
}

std::variant<Caller, Rejection> holder_of(const http::HttpRequest& request,
                                          const front::KeyRing& keys) {
  Shown shown = shown_key(request);
  if (auto* rejection = std::get_if<Rejection>(&shown)) return std::move(*rejection);
  auto info = keys.check(std::get<std::string_view>(shown));
  if (info) return Caller{std::move(info->id), info->role};
  return Rejection{401, "unknown", "this key is not known here; it may have been removed", {}};
}

Rejection wrong_role(const Caller& caller, Needs needs) {
  return {403, "role",
          fmt::format("this takes a key with the role {}{}; yours has the role {}", name_of(needs),
                      needs == Needs::kAdmin ? "" : " or admin", front::name_of(caller.role)),
          caller.key};
}

}  // namespace

std::variant<Caller, Rejection> authenticate(const http::HttpRequest& request,
                                             const front::KeyRing& keys, Needs needs) {
  if (keys.empty()) return Caller{};
  auto holder = holder_of(request, keys);
  const auto* caller = std::get_if<Caller>(&holder);
  if (caller == nullptr && needs == Needs::kNothing) return Caller{"", front::Role::kUse};
  if (caller == nullptr || permits(caller->role, needs)) return holder;
  return wrong_role(*caller, needs);
}

bool is_current(const Caller& caller, const front::KeyRing& keys) {
  if (caller.key.empty()) return keys.empty();
  return std::ranges::any_of(
      keys.keys(), [&](const front::KeyRing::Kept& kept) { return kept.info.id == caller.key; });
}

http::HttpResponse rejection_response(Dialect dialect, const Rejection& rejection) {
  auto response = route_error(dialect, rejection.status, rejection.message);
  if (rejection.status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

}  // namespace hearth::api
