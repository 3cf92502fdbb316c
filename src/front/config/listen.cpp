// SPDX-License-Identifier: Apache-2.0
#include "front/config/listen.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace hearth::front {

bool ListenAddress::is_loopback() const {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<ListenAddress> parse_listen(const std::string& text) {
  constexpr std::uint16_t kDefaultPort = 11435;
  ListenAddress address{text, kDefaultPort};
  const std::size_t colon = text.rfind(':');
  const bool bare_v6 = !text.empty() && text.find(':') != colon && text.front() != '[';
  const std::size_t bracket = text.rfind(']');
  const bool has_port =
      colon != std::string::npos && !bare_v6 && (bracket == std::string::npos || colon > bracket);
  if (has_port) {
    address.host = text.substr(0, colon);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (error != std::errc{} || stop != end) {
      return fail(ErrorCode::kInvalid, "the port of \"" + text + "\" is no number from 0 to 65535");
    }
  }
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  // ":11435" names no address: it stays on loopback. Serving others is said with "0.0.0.0".
  if (address.host.empty()) address.host = "127.0.0.1";
  return address;
}

}  // namespace hearth::front
