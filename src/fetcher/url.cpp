// SPDX-License-Identifier: Apache-2.0
#include "fetcher/url.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <optional>

#include "base/text.h"

namespace hearth::fetcher {
namespace {

constexpr std::size_t kLongest = 16 << 10;  // signed addresses of content networks reach 2 KiB

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Handle = std::unique_ptr<CURLU, FreeUrl>;

Failed unfit(std::string_view why) {
  return fail(ErrorCode::kInvalid, fmt::format("the URL {}", why));
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f && c != '\\';
}

std::optional<std::string> part(CURLU* url, CURLUPart what, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, what, &text, flags) != CURLUE_OK) return std::nullopt;
  std::string out{text};
  curl_free(text);
  return out;
}

Result<> set(CURLU* url, std::string_view text) {
  if (text.size() > kLongest) return unfit("is too long");
  if (!std::ranges::all_of(text, is_plain)) {
    return unfit("holds a blank, a backslash or a control character");
  }
  switch (curl_url_set(url, CURLUPART_URL, std::string{text}.c_str(), CURLU_DISALLOW_USER)) {
    case CURLUE_OK:
      return {};
    case CURLUE_UNSUPPORTED_SCHEME:
      return unfit("is neither http nor https");
    case CURLUE_USER_NOT_ALLOWED:
      return unfit("holds credentials; give a token where tokens are asked for");
    default:
      return unfit("cannot be understood");
  }
}

bool is_host(std::string_view host) {
  return !host.empty() && host != "." && std::ranges::all_of(host, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':';
  });
}

}  // namespace

Result<Url> Url::parse(std::string_view text) { return parse(text, {}); }

Result<Url> Url::resolve(std::string_view location) const { return parse(location, text_); }

Result<Url> Url::parse(std::string_view text, std::string_view base) {
  const Handle handle{curl_url()};
  if (!base.empty()) {
    if (auto begun = set(handle.get(), base); !begun) return Failed{std::move(begun).error()};
  }
  if (auto taken = set(handle.get(), text); !taken) return Failed{std::move(taken).error()};
  curl_url_set(handle.get(), CURLUPART_FRAGMENT, nullptr, 0);

  Url url;
  url.scheme_ = lower_case(part(handle.get(), CURLUPART_SCHEME).value_or(""));
  if (url.scheme_ != "http" && url.scheme_ != "https") return unfit("is neither http nor https");
  url.host_ = lower_case(part(handle.get(), CURLUPART_HOST).value_or(""));
  if (url.host_.starts_with('[') && url.host_.ends_with(']')) {
    url.host_ = url.host_.substr(1, url.host_.size() - 2);
  }
  if (part(handle.get(), CURLUPART_ZONEID)) return unfit("names a network interface");
  if (!is_host(url.host_)) return unfit("has no host that is written in plain letters");
  const std::string port = part(handle.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT).value_or("");
  std::from_chars(port.data(), port.data() + port.size(), url.port_);
  if (url.port_ == 0) return unfit("has no port that exists");
  url.text_ = part(handle.get(), CURLUPART_URL).value_or("");
  return url;
}

std::string Url::server() const {
  const bool usual = port_ == (scheme_ == "https" ? 443 : 80);
  const std::string host = host_.find(':') == std::string::npos ? host_ : '[' + host_ + ']';
  return usual ? host : fmt::format("{}:{}", host, port_);
}

}  // namespace hearth::fetcher
