// SPDX-License-Identifier: Apache-2.0
#include "lab/target/stream_client.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "base/json.h"
#include "http/address.h"
#include "http/line_reader.h"
#include "http/response_parser.h"
#include "lab/target/json_look.h"

namespace hearth::lab {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Ending = Answer::Ending;

constexpr std::size_t kMostBytes = 64U << 20U;
constexpr milliseconds kSlice{100};
constexpr int kMostPatiences = 10;

// What a server says of a refusal, in any of the dialects.
std::string message_of(std::string_view body) {
  const Result<boost::json::value> parsed = parse_json(body);
  if (!parsed) return repair_utf8(body.substr(0, 200));
  if (std::string text = text_at(*parsed, {"error", "message"}); !text.empty()) return text;
  if (std::string text = text_at(*parsed, {"error"}); !text.empty()) return text;
  return text_at(*parsed, {"message"});
}

class StreamCall {
 public:
  using OnLine = std::function<AfterLine(std::string_view, double)>;

  StreamCall(const http::Client& server, const StreamRequest& request, const OnLine& on_line)
      : server_{server},
        request_{request},
        on_line_{on_line},
        lines_{[this](std::string_view line) { take(line); }} {}

  StreamOutcome run() {
    begun_ = last_byte_ = steady_clock::now();
    if (connect() && send()) {
      while (!ended_) receive();
    }
    if (outcome_.total_ms == 0) outcome_.total_ms = elapsed_ms();
    return outcome_;
  }

 private:
  double elapsed_ms() const {
    return std::chrono::duration<double, std::milli>{steady_clock::now() - begun_}.count();
  }

  void end(Ending ending, std::string problem) {
    if (ended_) return;
    ended_ = true;
    outcome_.ending = ending;
    outcome_.problem = std::move(problem);
    outcome_.total_ms = elapsed_ms();
  }

  // False when the call has ended meanwhile.
  bool wait(short events) {
    while (!ended_) {
      pollfd entry{socket_.get(), events, 0};
      const int ready = ::poll(&entry, 1, static_cast<int>(kSlice.count()));
      if (ready > 0) return true;
      give_up_in_time();
    }
    return false;
  }

  void give_up_in_time() {
    const auto now = steady_clock::now();
    if (request_.stop && request_.stop()) {
      end(Ending::kBroken, "interrupted");
    } else if (now - last_byte_ > request_.patience) {
      end(Ending::kHung, fmt::format("nothing came for {} ms", request_.patience.count()));
    } else if (now - begun_ > kMostPatiences * request_.patience) {
      end(Ending::kHung,
          fmt::format("no end came within {} ms", kMostPatiences * request_.patience.count()));
    }
  }

  bool connect() {
    const auto addresses = http::resolve(server_.host(), server_.port());
    if (!addresses) {
      end(Ending::kBroken, addresses.error().message());
      return false;
    }
    int error = EADDRNOTAVAIL;
    for (const http::Address& address : *addresses) {
      error = connect_to(address);
      if (error == 0 || ended_) break;
    }
    if (error != 0) {
      end(Ending::kBroken,
          fmt::format("connect to {}: {}", server_.address(), std::strerror(error)));
    }
    return !ended_;
  }

  // 0, or the errno.
  int connect_to(const http::Address& address) {
    socket_ =
        Fd{::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!socket_) return errno;
    const int on = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(socket_.get(), address.get(), address.length) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    if (!wait(POLLOUT)) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
  }

  bool send() {
    const std::string bytes = fmt::format(
        "POST {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "{}Content-Length: {}\r\n\r\n{}",
        request_.target, server_.address(),
        request_.key.empty() ? "" : "Authorization: Bearer " + request_.key + "\r\n",
        request_.body.size(), request_.body);
    std::string_view rest = bytes;
    // One that takes no more may have said why: that is read next.
    while (!rest.empty() && wait(POLLOUT)) {
      const ssize_t n = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN && errno != EINTR) break;
      if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
    }
    return !ended_;
  }

  void receive() {
    if (!wait(POLLIN)) return;
    char chunk[16U << 10U];
    const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n < 0) return end(Ending::kBroken, std::strerror(errno));
    if (n == 0) return at_end();
    last_byte_ = steady_clock::now();
    received_ms_ = elapsed_ms();
    received_ += static_cast<std::size_t>(n);
    if (received_ > kMostBytes) return end(Ending::kGarbage, "more than 64 MiB came");
    pending_.append(chunk, static_cast<std::size_t>(n));
    const Result<std::size_t> used = parser_.feed(pending_);
    if (!used) return end(Ending::kGarbage, used.error().message());
    pending_.erase(0, *used);
    hand_over();
    if (!ended_ && parser_.done()) finish();
    if (!ended_) give_up_in_time();
  }

  void at_end() {
    const Result<> complete = parser_.feed_end();
    hand_over();
    if (ended_) return;
    if (!complete) return end(Ending::kBroken, complete.error().message());
    finish();
  }

  void hand_over() {
    if (!parser_.header_done()) return;
    outcome_.status = parser_.head().status;
    const std::string piece = parser_.take_body();
    if (outcome_.status >= 300) {
      refusal_ += piece;
    } else {
      lines_.feed(piece);
    }
  }

  // The answer is whole.
  void finish() {
    if (outcome_.status >= 300) {
      return end(Ending::kRefused,
                 fmt::format("status {}: {}", outcome_.status, message_of(refusal_)));
    }
    lines_.finish();
    end(Ending::kBroken, "the answer ended without its last words");
  }

  void take(std::string_view line) {
    if (ended_) return;
    switch (on_line_(line, received_ms_)) {
      case AfterLine::kMore:
        return;
      case AfterLine::kEnd:
        return end(Ending::kDone, {});
      case AfterLine::kGarbage:
        return end(Ending::kGarbage, "not the protocol: " + repair_utf8(line.substr(0, 120)));
    }
  }

  const http::Client& server_;
  const StreamRequest& request_;
  const OnLine& on_line_;
  http::LineReader lines_;
  http::ResponseParser parser_{http::ResponseParser::Body::kExpected};
  Fd socket_;
  StreamOutcome outcome_;
  std::string pending_;
  std::string refusal_;
  std::size_t received_ = 0;
  double received_ms_ = 0;
  steady_clock::time_point begun_;
  steady_clock::time_point last_byte_;
  bool ended_ = false;
};

}  // namespace

StreamOutcome stream_lines(const http::Client& server, const StreamRequest& request,
                           const std::function<AfterLine(std::string_view, double)>& on_line) {
  StreamCall call{server, request, on_line};
  return call.run();
}

}  // namespace hearth::lab
