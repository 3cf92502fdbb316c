// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/auth_challenge.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "layers/artifact/source/http_url.h"
#include "layers/artifact/source/source_text.h"

namespace hearth {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kMaxHeader = 8 << 10;

// Takes parameters off a header of one or several challenges (RFC 9110, section 11.3).
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_{text} {}

  // The parameters of the first challenge of this scheme; nullopt: none, or malformed.
  std::optional<std::map<std::string, std::string>> parameters_of(std::string_view wanted) {
    bool inside = false;
    std::map<std::string, std::string> found;
    while (skip(" \t,")) {
      const std::string word = lower_case(take_word());
      if (word.empty()) return std::nullopt;
      skip(kBlanks);
      const bool parameter = rest_.starts_with('=');
      if (!parameter && inside) break;  // the next challenge
      if (!parameter) {
        inside = word == wanted;
        continue;
      }
      rest_.remove_prefix(1);
      const std::optional<std::string> value = take_value();
      if (!value) return std::nullopt;
      if (inside) found.emplace(word, *value);
    }
    if (found.empty()) return std::nullopt;
    return found;
  }

 private:
  bool skip(std::string_view characters) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
    return !rest_.empty();
  }

  std::string_view take_word() {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t,=\""));
    rest_.remove_prefix(word.size());
    return word;
  }

  std::optional<std::string> take_value() {
    skip(kBlanks);
    if (!rest_.starts_with('"')) return std::string{take_word()};
    std::string value;
    for (std::size_t at = 1; at < rest_.size(); ++at) {
      if (rest_[at] == '"') {
        rest_.remove_prefix(at + 1);
        return value;
      }
      if (rest_[at] == '\\' && at + 1 < rest_.size()) ++at;
      value += rest_[at];
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

}  // namespace

Result<AuthChallenge> AuthChallenge::find_bearer(const std::vector<HeaderField>& headers) {
  bool asked = false;
  for (const HeaderField& header : headers) {
    if (header.name != "www-authenticate" || header.value.size() > kMaxHeader) continue;
    asked = true;
    auto parameters = Reader{header.value}.parameters_of("bearer");
    if (!parameters || (*parameters)["realm"].empty()) continue;
    AuthChallenge challenge{(*parameters)["realm"], (*parameters)["service"], {}};
    for (const std::string_view scope : split((*parameters)["scope"], ' ')) {
      if (!scope.empty()) challenge.scopes.emplace_back(scope);
    }
    return challenge;
  }
  if (!asked) return fail(ErrorCode::kCorrupt, "the server refuses (401) and does not say why");
  return fail(ErrorCode::kInvalid,
              "the server wants a user and a password; models behind a login are not supported");
}

std::string AuthChallenge::query(std::string_view of_realm) const {
  std::string query{of_realm};
  const auto add = [&query](std::string_view name, std::string_view value) {
    if (!query.empty()) query += '&';
    query += std::string{name} + "=" + escaped(value);
  };
  if (!service.empty()) add("service", service);
  for (const std::string& scope : scopes) add("scope", scope);
  return query.empty() ? query : "?" + query;
}

}  // namespace hearth
