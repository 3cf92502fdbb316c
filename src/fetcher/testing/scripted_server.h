// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace hearth::fetcher::testing {

// What a client asked for.
struct Asked {
  std::string path;
  std::map<std::string, std::string> fields;  // names in lower case
  int number = 0;                             // of this request on this server, from 0

  std::string field(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? "" : found->second;
  }
  // Of "Range: bytes=a-b"; the whole without one. `end` is exclusive.
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool ranged = false;
  };
  Part part(std::uint64_t size) const;
};

// The bytes of an answer as they go over the socket, and what happens then.
struct Reply {
  enum class Then {
    kKeepOpen,
    kClose,
    kStall,  // nothing more comes, until the client or the server goes
  };
  std::string bytes;
  Then then = Then::kKeepOpen;
};

// "HTTP/1.1 <status> X", Content-Length, the fields, the body.
inline Reply reply(int status, std::string_view fields, std::string_view body);
// 206 of what was asked for, or 200, with an ETag where `etag` is not empty.
inline Reply file_reply(const Asked& asked, std::string_view content, std::string_view etag);

// Speaks HTTP on a port of its own on 127.0.0.1, a thread for each connection, as a script says.
// Thread-safe; the script is called under a lock.
class ScriptedServer {
 public:
  using Script = std::function<Reply(const Asked&)>;
  explicit ScriptedServer(Script script);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::uint16_t port() const { return port_; }
  // "127.0.0.1:1234"
  std::string server() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url(std::string_view path) const { return "http://" + server() + std::string{path}; }
  std::string rule() const { return "http://" + server(); }
  std::vector<Asked> asked() const;
  int connections() const;
  // Nobody's second question is answered before so many connections are there; for some seconds.
  void wait_for_connections(int count);

 private:
  void accept_all();
  void serve(int socket);
  Reply answer(Asked asked);

  const Script script_;
  Fd listener_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<Asked> asked_;          // under mutex_
  std::vector<int> sockets_;          // under mutex_; still open
  std::vector<std::thread> threads_;  // under mutex_
  bool stopping_ = false;             // under mutex_
  int accepted_ = 0;                  // under mutex_
  int awaited_ = 0;                   // under mutex_
  std::condition_variable changed_;
  std::thread acceptor_;
};

namespace inner {

inline sockaddr_in loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline Asked parse(std::string_view head) {
  Asked asked;
  const std::size_t path = head.find(' ') + 1;
  asked.path = head.substr(path, head.find(' ', path) - path);
  while (!head.empty()) {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    std::string name{line.substr(0, colon)};
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    asked.fields[name] = line.substr(colon + 2);
  }
  return asked;
}

// The next request's head; nothing when the client has gone.
inline std::optional<std::string> receive_head(int socket, std::string& pending) {
  for (;;) {
    const std::size_t end = pending.find("\r\n\r\n");
    if (end != std::string::npos) {
      std::string head = pending.substr(0, end + 2);
      pending.erase(0, end + 4);
      return head;
    }
    char buffer[4096];
    const ssize_t n = ::recv(socket, buffer, sizeof buffer, 0);
    if (n <= 0) return std::nullopt;
    pending.append(buffer, static_cast<std::size_t>(n));
  }
}

inline bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

inline std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace inner

inline Asked::Part Asked::part(std::uint64_t size) const {
  const std::string range = field("range");
  constexpr std::string_view kUnit = "bytes=";
  if (!range.starts_with(kUnit)) return {0, size, false};
  const std::size_t dash = range.find('-');
  Part part{inner::number(std::string_view{range}.substr(kUnit.size())), size, true};
  const std::string_view last = std::string_view{range}.substr(dash + 1);
  if (!last.empty()) part.end = std::min(size, inner::number(last) + 1);
  return part;
}

inline Reply reply(int status, std::string_view fields, std::string_view body) {
  return {fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(),
                      fields, body),
          Reply::Then::kKeepOpen};
}

inline Reply file_reply(const Asked& asked, std::string_view content, std::string_view etag) {
  const Asked::Part part = asked.part(content.size());
  std::string fields = etag.empty() ? "" : fmt::format("ETag: {}\r\n", etag);
  const bool other = !asked.field("if-range").empty() && asked.field("if-range") != etag;
  if (!part.ranged || other) return reply(200, fields, content);
  if (part.begin >= part.end) {
    fields += fmt::format("Content-Range: bytes */{}\r\n", content.size());
    return reply(416, fields, "");
  }
  fields +=
      fmt::format("Content-Range: bytes {}-{}/{}\r\n", part.begin, part.end - 1, content.size());
  return reply(206, fields, content.substr(part.begin, part.end - part.begin));
}

inline ScriptedServer::ScriptedServer(Script script)
    : script_{std::move(script)}, listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  sockaddr_in address = inner::loopback();
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 64) != 0 ||
      ::getsockname(listener_.get(), generic, &size) != 0) {
    throw std::runtime_error{"cannot listen"};
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread{[this] { accept_all(); }};
}

inline ScriptedServer::~ScriptedServer() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    threads.swap(threads_);
  }
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads) thread.join();
}

inline void ScriptedServer::accept_all() {
  for (;;) {
    const int socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock{mutex_};
    if (stopping_) {
      ::close(socket);
      return;
    }
    ++accepted_;
    changed_.notify_all();
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

inline void ScriptedServer::serve(int socket) {
  std::string pending;
  while (const auto head = inner::receive_head(socket, pending)) {
    const Reply reply = answer(inner::parse(*head));
    if (!inner::send_all(socket, reply.bytes) || reply.then == Reply::Then::kClose) break;
    if (reply.then == Reply::Then::kKeepOpen) continue;
    char byte = 0;
    while (::recv(socket, &byte, 1, 0) > 0) continue;
    break;
  }
  const std::lock_guard lock{mutex_};
  std::erase(sockets_, socket);
  ::close(socket);
}

inline void ScriptedServer::wait_for_connections(int count) {
  const std::lock_guard lock{mutex_};
  awaited_ = count;
}

inline Reply ScriptedServer::answer(Asked asked) {
  constexpr std::chrono::seconds kLongest{10};
  std::unique_lock lock{mutex_};
  if (!asked_.empty()) {
    changed_.wait_for(lock, kLongest, [&] { return accepted_ >= awaited_ || stopping_; });
  }
  asked.number = static_cast<int>(asked_.size());
  asked_.push_back(asked);
  return script_(asked);
}

inline std::vector<Asked> ScriptedServer::asked() const {
  const std::lock_guard lock{mutex_};
  return asked_;
}

inline int ScriptedServer::connections() const {
  const std::lock_guard lock{mutex_};
  return accepted_;
}

}  // namespace hearth::fetcher::testing
