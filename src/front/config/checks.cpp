// SPDX-License-Identifier: Apache-2.0
#include "front/config/checks.h"

#include <algorithm>

#include "base/host_rule.h"
#include "front/config/listen.h"
#include "front/keep_alive.h"
#include "layers/artifact/model_name.h"

namespace hearth::front {
namespace {

constexpr std::string_view kWordCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kWordCharacters) == std::string_view::npos;
}

// "box", "*.home.example", "*".
bool is_host_rule(std::string_view text) {
  if (text == "*") return true;
  if (text.starts_with("*.")) text.remove_prefix(2);
  return is_word(text);
}

bool is_port_rule(std::string_view text) {
  return text == "*" ||
         (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos);
}

bool is_host_and_port(std::string_view text) {
  const std::size_t end = text.starts_with('[') ? text.find(']') + 1 : text.find(':');
  const std::string_view host = text.substr(0, end);
  const bool bracketed = host.starts_with('[') && host.size() > 2;
  if (!bracketed && !is_host_rule(host)) return false;
  if (end >= text.size()) return true;
  return text[end] == ':' && is_port_rule(text.substr(end + 1));
}

bool is_origin_rule(std::string_view text) {
  if (text == "*" || text == "null") return true;
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos) return is_host_and_port(text);
  const std::string_view scheme = text.substr(0, mark);
  text.remove_prefix(mark + 3);
  if (text.ends_with('/')) text.remove_suffix(1);
  return is_word(scheme) && is_host_and_port(text);
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
  if (is_host_rule(text)) return {};
  return not_that("names such as \"ai.home.example\" or \"*.home.example\", without a port", text);
}

Result<> check_origin(const std::string& text) {
  if (is_origin_rule(text)) return {};
  return not_that(
      "origins such as \"https://chat.home.example\" or \"http://*.home.example:*\", without a "
      "path",
      text);
}

Result<> check_model_name(const std::string& text) {
  const auto name = ModelName::parse(text);
  if (!name) return fail(ErrorCode::kInvalid, "must be model names: " + name.error().message());
  return {};
}

Result<> check_folder(const std::string& text) {
  if (text.starts_with('/') && text.find('\0') == std::string::npos) return {};
  return not_that("absolute paths such as \"/srv/models\"", text);
}

Result<> check_pull_host(const std::string& text) {
  const auto rule = HostRule::parse(text);
  if (!rule) return Failed{rule.error()};
  return {};
}

Result<> check_endpoint(const std::string& text) {
  const std::size_t scheme = text.find("://");
  const std::size_t path = scheme == std::string::npos ? scheme : text.find('/', scheme + 3);
  const auto rule = HostRule::parse(text.substr(0, path));
  const bool fit = scheme != std::string::npos && rule && rule->names_one_host() &&
                   text.find_first_of("?#@ ") == std::string::npos;
  if (fit) return {};
  return not_that("an address such as \"https://mirror.example\"", text);
}

Result<> check_service_name(const std::string& text) {
  if (is_word(text) && text.size() <= 64) return {};
  return fail(ErrorCode::kInvalid,
              "is no name: 1 to 64 letters, digits, \"_\", \"-\" and \".\" are one");
}

Result<> check_process(const std::string& text) {
  const bool whole = text.find_first_of(std::string_view{"/\0\n", 3}) == std::string::npos;
  if (whole && !text.empty() && text.size() <= 255) return {};
  return not_that("a program's name without a path, such as \"frigate\"", text);
}

Result<> check_cgroup(const std::string& text) {
  const bool inside = ("/" + text + "/").find("/../") == std::string::npos &&
                      ("/" + text + "/").find("//") == std::string::npos;
  const bool fit = inside && !text.empty() && !text.starts_with("sys/fs/cgroup") &&
                   text.find_first_of(std::string_view{"\0\n", 2}) == std::string::npos;
  if (fit) return {};
  return not_that(
      "a path below /sys/fs/cgroup without a slash at its ends, such as "
      "\"system.slice/frigate.service\"",
      text);
}

Result<> check_probed_url(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  const std::string_view rest =
      text.starts_with(kScheme) ? std::string_view{text}.substr(kScheme.size()) : "";
  const std::string_view host = rest.substr(0, rest.find_first_of("/?"));
  const bool printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
  const bool fit = !host.empty() && is_host_and_port(host) && !host.ends_with("*") &&
                   !host.starts_with("*") && text.find('#') == std::string::npos && printable;
  if (fit && text.size() <= 2000) return {};
  return not_that("an address such as \"http://127.0.0.1:5000/api/version\", without a user", text);
}

Result<> check_gap(const std::string& text) {
  const auto gap = KeepAlive::parse(text);
  if (gap && !gap->is_until_wanted() && gap->length() >= std::chrono::seconds{1}) return {};
  return not_that("a duration of at least a second, such as \"8h\"", text);
}

}  // namespace hearth::front
