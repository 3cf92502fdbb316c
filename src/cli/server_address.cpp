// SPDX-License-Identifier: Apache-2.0
#include "cli/server_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "http/address.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kOllamaHost = "OLLAMA_HOST";
constexpr std::uint16_t kOllamaPort = 11434;
constexpr std::uint16_t kWebPort = 80;

struct Source {
  std::string_view name;
  std::string value;
  std::uint16_t port;           // where the value has none
  std::uint16_t port_of_a_url;  // where it begins with "http://"
};

constexpr std::string_view kAround = " \t\r\n\"'";

Source source_of(const std::string& flag, const Environment& environment) {
  if (!flag.empty()) return {"--host", flag, kDefaultPort, kDefaultPort};
  if (std::string ours = environment("HEARTH_HOST"); !ours.empty()) {
    return {"HEARTH_HOST", std::move(ours), kDefaultPort, kDefaultPort};
  }
  return {kOllamaHost, environment("OLLAMA_HOST"), kOllamaPort, kWebPort};
}

std::optional<std::uint16_t> port_in(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

struct HostPort {
  std::string_view host;
  std::optional<std::string_view> port;
};

// Brackets stay out of the host. Nothing for a bracket without its partner.
std::optional<HostPort> split(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
    HostPort parts{text.substr(1, close - 1), std::nullopt};
    if (!rest.empty()) parts.port = rest.substr(1);
    return parts;
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return HostPort{text, std::nullopt};
  if (text.find(':', colon + 1) != std::string_view::npos) return HostPort{text, std::nullopt};
  return HostPort{text.substr(0, colon), text.substr(colon + 1)};
}

std::string_view reachable(std::string_view host) {
  if (host.empty() || host == "0.0.0.0") return "127.0.0.1";
  return host == "::" ? std::string_view{"::1"} : host;
}

bool is_host(std::string_view host) {
  return std::all_of(host.begin(), host.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != 127 && c != '/' && c != '@' && c != '?';
  });
}

Failed wrong(const Source& source, std::string_view why) {
  return fail(ErrorCode::kInvalid, fmt::format("{}={}: {}", source.name, source.value, why));
}

}  // namespace

std::string ServerAddress::text() const { return http::join_host_port(host, port); }

bool ServerAddress::is_from_ollama_host() const {
  return origin.starts_with(fmt::format("{}=", kOllamaHost));
}

std::string ServerAddress::start_command() const {
  const bool here = host == "127.0.0.1" || host == "::1" || host == "localhost";
  if (!here || !prefix.empty()) return {};
  const bool is_default = port == kDefaultPort && host != "::1";
  return is_default ? "hearth serve" : "hearth serve --listen " + text();
}

Result<ServerAddress> server_address(const std::string& flag, const Environment& environment) {
  Source source = source_of(flag, environment);
  std::string_view text = trimmed(source.value, kAround);
  if (text.empty()) return ServerAddress{};
  if (text.starts_with("https://")) {
    return wrong(source,
                 "this command line speaks plain HTTP; give the server's own http:// "
                 "address, or a tunnel's");
  }
  if (text.starts_with("http://")) {
    text.remove_prefix(7);
    source.port = source.port_of_a_url;
  } else if (text.find("://") != std::string_view::npos) {
    return wrong(source, "only http:// is known");
  }
  const std::string_view authority = text.substr(0, text.find('/'));
  std::string_view path = text.substr(authority.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  const auto parts = split(authority);
  if (!parts || !is_host(parts->host) || !is_host(authority)) {
    return wrong(source, "no address; give HOST or HOST:PORT");
  }
  const auto port = parts->port ? port_in(*parts->port) : source.port;
  if (!port) return wrong(source, "the port must be a number from 1 to 65535");
  return ServerAddress{std::string{reachable(parts->host)}, *port, std::string{path},
                       fmt::format("{}={}", source.name, source.value)};
}

}  // namespace hearth::cli
