// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

#include <algorithm>

namespace hearth::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

std::optional<std::string> form_decode(std::string_view text) {
  std::string spaced{text};
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decode(spaced);
}

HttpResponse typed(int status, std::string type, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", std::move(type)});
  response.body = std::move(body);
  return response;
}

}  // namespace

std::optional<std::string_view> header_of(const Headers& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (same_name(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::optional<std::string> normal_path(std::string_view raw) {
  const std::optional<std::string> decoded = percent_decode(raw);
  if (!decoded || !decoded->starts_with('/')) return std::nullopt;
  if (decoded->find('\0') != std::string::npos) return std::nullopt;
  std::string path;
  std::string_view rest{*decoded};
  while (!rest.empty()) {
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part == "." || part == "..") return std::nullopt;
    path += '/';
    path += part;
    rest.remove_prefix(part.size());
  }
  return path;
}

std::optional<std::string> HttpRequest::parameter(std::string_view name) const {
  std::string_view rest{query};
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (form_decode(pair.substr(0, equals)) != name) continue;
    return form_decode(pair.substr(std::min(equals + 1, pair.size())));
  }
  return std::nullopt;
}

HttpResponse HttpResponse::text(int status, std::string body) {
  return typed(status, "text/plain; charset=utf-8", std::move(body));
}

HttpResponse HttpResponse::json(int status, std::string body) {
  return typed(status, "application/json", std::move(body));
}

}  // namespace hearth::http
