// SPDX-License-Identifier: Apache-2.0
#include "front/protected/http_probe.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "base/version.h"

namespace hearth::front {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{100};  // between looks whether it is cancelled
constexpr std::size_t kMostHead = 16 << 10;

TimePoint now() { return Clock::real().now(); }

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> look_up(const ProbeAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list);
  if (error != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("look up {}: {}", address.host, ::gai_strerror(error)));
  }
  return Addresses{list};
}

// One exchange, from a thread that may wait.
class Exchange {
 public:
  Exchange(const ProbeAddress& address, Duration patience, const std::atomic<bool>& cancelled)
      : address_{address}, patience_{patience}, cancelled_{cancelled} {}

  Result<Probe::Answer> run() {
    auto addresses = look_up(address_);
    if (!addresses) return Failed{std::move(addresses).error()};
    begin_ = now();
    auto done = connect(**addresses);
    if (done) done = send();
    if (done) done = receive();
    if (cancelled_) return fail(ErrorCode::kCancelled, "stopped");
    if (late_) return Probe::Answer{patience_, false};
    if (!done) return Failed{std::move(done).error()};
    return Probe::Answer{now() - begin_, true};
  }

 private:
  Failed failed(std::string_view attempt, int error) const {
    return fail_errno(fmt::format("{} {}", attempt, address_.name), error);
  }

  // Until the socket can do that.
  Result<> wait_for(short what) {
    while (!cancelled_) {
      const auto left = std::chrono::ceil<milliseconds>(begin_ + patience_ - now());
      if (left <= milliseconds{}) {
        late_ = true;
        return fail(ErrorCode::kUnavailable, "timed out");
      }
      pollfd entry{socket_.get(), what, 0};
      const int ready = ::poll(&entry, 1, static_cast<int>(std::min(left, kLook).count()));
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) return failed("poll", errno);
    }
    return fail(ErrorCode::kCancelled, "stopped");
  }

  Result<> connect(const addrinfo& first) {
    Result<> result = fail(ErrorCode::kUnavailable, "no address");
    for (const addrinfo* each = &first; each != nullptr; each = each->ai_next) {
      result = connect_to(*each);
      if (result || late_ || cancelled_) break;
    }
    return result;
  }

  Result<> connect_to(const addrinfo& to) {
    socket_ = Fd{::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket_) return failed("socket for", errno);
    if (::connect(socket_.get(), to.ai_addr, to.ai_addrlen) == 0) return {};
    if (errno != EINPROGRESS) return failed("connect to", errno);
    if (auto ready = wait_for(POLLOUT); !ready) return ready;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return failed("connect to", error);
    return {};
  }

  Result<> send() {
    const std::string request = fmt::format(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: hearth/{}\r\nAccept: */*\r\n"
        "Connection: close\r\n\r\n",
        address_.target, address_.name, version());
    std::string_view rest = request;
    while (!rest.empty()) {
      const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN) {
        if (auto ready = wait_for(POLLOUT); !ready) return ready;
      } else if (errno != EINTR) {
        return failed("send to", errno);
      }
    }
    return {};
  }

  Result<> receive() {
    std::string head;
    char piece[4096];
    while (head.size() < kMostHead) {
      const ssize_t got = ::recv(socket_.get(), piece, sizeof piece, 0);
      if (got > 0) {
        head.append(piece, static_cast<std::size_t>(got));
        if (head.find("\r\n\r\n") != head.npos) return check(head);
      } else if (got == 0) {
        return fail(ErrorCode::kUnavailable, address_.name + " hangs up without an answer");
      } else if (errno == EAGAIN) {
        if (auto ready = wait_for(POLLIN); !ready) return ready;
      } else if (errno != EINTR) {
        return failed("read from", errno);
      }
    }
    return fail(ErrorCode::kUnavailable, address_.name + " answers with an endless head");
  }

  Result<> check(std::string_view head) const {
    const bool known = head.starts_with("HTTP/1.0 ") || head.starts_with("HTTP/1.1 ");
    const char hundreds = known ? head[9] : '0';
    if (hundreds < '1' || hundreds > '5') {
      return fail(ErrorCode::kUnavailable, address_.name + " does not answer in HTTP");
    }
    if (hundreds < '5') return {};
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} answers {}", address_.name, repaired(head.substr(9, 3))));
  }
  static std::string repaired(std::string_view status) {
    std::string out{status};
    std::ranges::replace_if(out, [](char c) { return c < '0' || c > '9'; }, '?');
    return out;
  }

  const ProbeAddress& address_;
  const Duration patience_;
  const std::atomic<bool>& cancelled_;
  TimePoint begin_;
  Fd socket_;
  bool late_ = false;
};

Failed wrong(const std::string& url, const char* why) {
  return fail(ErrorCode::kInvalid, fmt::format("\"{}\" is no address to ask: {}", url, why));
}

}  // namespace

Result<ProbeAddress> parse_probe_address(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  if (lower_case(url.substr(0, kScheme.size())) != kScheme) return wrong(url, "not http://");
  if (std::ranges::any_of(url, [](char c) { return c <= ' ' || c == '\x7f'; })) {
    return wrong(url, "a space or a control character");
  }
  std::string_view rest = std::string_view{url}.substr(kScheme.size());
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = std::min(rest.size(), rest.find_first_of("/?"));
  ProbeAddress out;
  out.name = rest.substr(0, end);
  out.target = rest.substr(end);
  if (!out.target.starts_with('/')) out.target.insert(0, "/");
  if (out.name.find('@') != out.name.npos) return wrong(url, "a user name");
  std::string_view host = out.name;
  out.port = "80";
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  if (colon != host.npos && (bracket == host.npos || colon > bracket)) {
    out.port = host.substr(colon + 1);
    host = host.substr(0, colon);
    const bool digits = out.port.find_first_not_of("0123456789") == out.port.npos;
    if (out.port.empty() || out.port.size() > 5 || !digits || std::stoi(out.port) > 65535) {
      return wrong(url, "no port");
    }
  }
  if (host.starts_with('[') != host.ends_with(']')) return wrong(url, "no host");
  out.host = trimmed(host, "[]");
  if (out.host.empty()) return wrong(url, "no host");
  return out;
}

HttpProbe::HttpProbe(EventLoop& loop, ProbeAddress address, Duration patience)
    : loop_{loop}, address_{std::move(address)}, patience_{patience}, pool_{"hearth-probe", 1} {}

Task<Result<Probe::Answer>> HttpProbe::ask() {
  auto job = [this] { return Exchange{address_, patience_, cancelled_}.run(); };
  co_return co_await pool_.run(loop_, std::move(job));
}

MakeProbe http_probes(EventLoop& loop) {
  return [&loop](const std::string& url) -> Result<std::unique_ptr<Probe>> {
    auto address = parse_probe_address(url);
    if (!address) return Failed{std::move(address).error()};
    return std::make_unique<HttpProbe>(loop, std::move(*address));
  };
}

}  // namespace hearth::front
