// SPDX-License-Identifier: Apache-2.0
#include "http/client.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/fd.h"
#include "http/address.h"
#include "http/response_parser.h"

namespace hearth::http {
namespace {

using std::chrono::milliseconds;

Failed unavailable(std::string_view attempt, std::string_view cause) {
  return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", attempt, cause));
}

// 0, or the errno: ETIMEDOUT when nothing happened.
int wait_for(const Fd& socket, short events, milliseconds timeout) {
  pollfd entry{socket.get(), events, 0};
  while (true) {
    const int ready = ::poll(&entry, 1, static_cast<int>(timeout.count()));
    if (ready > 0) return 0;
    if (ready == 0) return ETIMEDOUT;
    if (errno != EINTR) return errno;
  }
}

// 0, or the errno.
int connect_within(const Fd& socket, const Address& address, milliseconds timeout) {
  if (::connect(socket.get(), address.get(), address.length) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (const int error = wait_for(socket, POLLOUT, timeout); error != 0) return error;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

Result<Fd> connect_to(const Client& client, milliseconds timeout) {
  const std::string attempt = "connect to " + client.address();
  const Result<std::vector<Address>> addresses = resolve(client.host(), client.port());
  if (!addresses) return unavailable(attempt, addresses.error().message());
  int error = EADDRNOTAVAIL;
  for (const Address& address : *addresses) {
    Fd socket{::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    error = socket ? connect_within(socket, address, timeout) : errno;
    if (error != 0) continue;
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket;
  }
  return unavailable(attempt, std::strerror(error));
}

std::string to_bytes(const Client& client, const Client::Call& call) {
  std::string bytes = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
                                  call.method, call.target, client.address());
  for (const Header& header : call.headers) {
    bytes += fmt::format("{}: {}\r\n", header.name, header.value);
  }
  if (!call.body.empty() || call.method == "POST" || call.method == "PUT") {
    bytes += fmt::format("Content-Length: {}\r\n", call.body.size());
  }
  bytes += "\r\n";
  bytes += call.body;
  return bytes;
}

// Stops early, without an error, when the server takes no more: its reason may lie in the answer.
void send_all(const Fd& socket, std::string_view bytes, milliseconds timeout) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      if (wait_for(socket, POLLOUT, timeout) != 0) return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

// Reads one answer and hands it over.
class AnswerReader {
 public:
  using OnBytes = std::function<bool(std::string_view)>;

  AnswerReader(const Client& client, const Client::Call& call, const OnBytes& on_bytes)
      : attempt_{"read from " + client.address()},
        timeout_{call.read_timeout},
        on_bytes_{on_bytes},
        parser_{call.method == "HEAD" ? ResponseParser::Body::kNone
                                      : ResponseParser::Body::kExpected} {}

  Result<HttpResponse> read(const Fd& socket) {
    while (!parser_.done() && !hung_up_) {
      if (Result<> more = receive(socket); !more) return Failed{std::move(more).error()};
      if (parser_.header_done()) hand_over();
    }
    HttpResponse response = parser_.head();
    response.body = std::move(collected_);
    return response;
  }

 private:
  Result<> receive(const Fd& socket) {
    if (wait_for(socket, POLLIN, timeout_) != 0) {
      return unavailable(attempt_, fmt::format("nothing came for {} ms", timeout_.count()));
    }
    char chunk[16 << 10];
    const ssize_t n = ::recv(socket.get(), chunk, sizeof chunk, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (n < 0) return unavailable(attempt_, std::strerror(errno));
    Result<> outcome;
    if (n == 0) {
      outcome = parser_.feed_end();
    } else {
      pending_.append(chunk, static_cast<std::size_t>(n));
      const Result<std::size_t> used = parser_.feed(pending_);
      if (!used) return Failed{Error{used.error()}.during(attempt_)};
      pending_.erase(0, *used);
    }
    if (!outcome) return Failed{std::move(outcome).error().during(attempt_)};
    return {};
  }

  void hand_over() {
    std::string piece = parser_.take_body();
    if (piece.empty()) return;
    if (on_bytes_ && parser_.head().status < 300) {
      hung_up_ = !on_bytes_(piece);
    } else {
      collected_ += piece;
    }
  }

  std::string attempt_;
  milliseconds timeout_;
  const OnBytes& on_bytes_;
  ResponseParser parser_;
  std::string pending_;
  std::string collected_;
  bool hung_up_ = false;
};

// ":80" or nothing.
std::optional<std::uint16_t> parse_port(std::string_view text, std::uint16_t otherwise) {
  if (text.empty()) return otherwise;
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, port);
  if (text[0] != ':' || error != std::errc{} || stop != end || port == 0) return std::nullopt;
  return port;
}

struct HostPort {
  std::string_view host;
  std::string_view port;  // with its ':', or empty
};

// An address with several colons and no brackets is an IPv6 one without a port.
HostPort split_host_port(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return {};
    return {text.substr(1, close - 1), text.substr(close + 1)};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.find(':') != colon) return {text, {}};
  return {text.substr(0, colon), text.substr(colon)};
}

}  // namespace

Result<Client> Client::to(std::string_view url, std::uint16_t default_port) {
  const Failed invalid = fail(ErrorCode::kInvalid, fmt::format("\"{}\" is no server address", url));
  std::string_view rest = url;
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find_first_of("/?#@ ") != std::string_view::npos) return invalid;
  const HostPort parts = split_host_port(rest);
  const std::optional<std::uint16_t> port = parse_port(parts.port, default_port);
  if (parts.host.empty() || !port) return invalid;
  return Client{std::string{parts.host}, *port};
}

std::string Client::address() const { return join_host_port(host_, port_); }

Result<HttpResponse> Client::call(const Call& call) const { return stream(call, nullptr); }

Result<HttpResponse> Client::stream(const Call& call,
                                    const std::function<bool(std::string_view)>& on_bytes) const {
  Result<Fd> socket = connect_to(*this, call.connect_timeout);
  if (!socket) return Failed{std::move(socket).error()};
  send_all(*socket, to_bytes(*this, call), call.read_timeout);
  AnswerReader reader{*this, call, on_bytes};
  return reader.read(*socket);
}

}  // namespace hearth::http
