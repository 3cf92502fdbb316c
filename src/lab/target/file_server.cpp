// SPDX-License-Identifier: Apache-2.0
#include "lab/target/file_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/text.h"

namespace hearth::lab {
namespace {

constexpr int kSliceMs = 50;
constexpr std::size_t kChunk = 64U << 10U;
constexpr const char* kPath = "/lab.gguf";

// False when it is time to leave.
bool wait_for(const std::stop_token& stop, const Fd& socket, short events) {
  while (!stop.stop_requested()) {
    pollfd entry{socket.get(), events, 0};
    if (::poll(&entry, 1, kSliceMs) > 0) return true;
  }
  return false;
}

bool send_all(const std::stop_token& stop, const Fd& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_for(stop, socket, POLLOUT)) return false;
    const ssize_t n = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Up to the empty line; "" when none comes.
std::string read_head(const std::stop_token& stop, const Fd& socket) {
  constexpr std::size_t kMost = 16U << 10U;
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    std::array<char, 4096> piece{};
    if (head.size() > kMost || !wait_for(stop, socket, POLLIN)) return {};
    const ssize_t n = ::recv(socket.get(), piece.data(), piece.size(), 0);
    if (n <= 0) return {};
    head.append(piece.data(), static_cast<std::size_t>(n));
  }
  return head;
}

struct Part {
  std::uint64_t from = 0;
  std::uint64_t to = 0;  // the last byte
};

// Of "bytes=A-B" and "bytes=A-"; nullopt for whatever else, which means the whole file.
std::optional<Part> range_in(const std::string& head, std::uint64_t size) {
  const std::string lower = lower_case(head);
  constexpr std::string_view kField = "\r\nrange: bytes=";
  const std::size_t at = lower.find(kField);
  if (at == std::string::npos) return std::nullopt;
  Part part{0, size - 1};
  const char* const end = lower.data() + lower.size();
  const auto [dash, bad] = std::from_chars(lower.data() + at + kField.size(), end, part.from);
  if (bad != std::errc{} || dash == end || *dash != '-') return std::nullopt;
  std::from_chars(dash + 1, end, part.to);
  part.to = std::min(part.to, size - 1);
  return part;
}

Result<Fd> listen_somewhere() {
  Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* const at = reinterpret_cast<const sockaddr*>(&address);
  if (!socket || ::bind(socket.get(), at, sizeof address) != 0 || ::listen(socket.get(), 64) != 0) {
    return fail_errno("listen on 127.0.0.1", errno);
  }
  return socket;
}

std::uint16_t port_of(const Fd& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

}  // namespace

Result<std::unique_ptr<FileServer>> FileServer::serve(const Config& config) {
  const Result<FileInfo> info = Files::real().info(config.file);
  if (!info) return Failed{info.error()};
  Result<Fd> listener = listen_somewhere();
  if (!listener) return Failed{std::move(listener).error()};
  const std::uint16_t port = port_of(*listener);
  return std::unique_ptr<FileServer>{
      new FileServer{config, info->size, std::move(*listener), port}};
}

FileServer::FileServer(Config config, Bytes size, Fd listener, std::uint16_t port)
    : config_{std::move(config)},
      size_{size},
      listener_{std::move(listener)},
      port_{port},
      thread_{[this](const std::stop_token& stop) { accept(stop); }} {}

FileServer::~FileServer() = default;

std::string FileServer::origin() const { return fmt::format("http://127.0.0.1:{}", port_); }
std::string FileServer::url() const { return origin() + kPath; }

void FileServer::accept(const std::stop_token& stop) {
  while (wait_for(stop, listener_, POLLIN)) {
    Fd socket{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (!socket) continue;
    connections_.emplace_back(
        [this](const std::stop_token& leave, const Fd& taken) { answer(leave, taken); },
        std::move(socket));
  }
  connections_.clear();
}

void FileServer::answer(const std::stop_token& stop, const Fd& socket) {
  const std::string head = read_head(stop, socket);
  const bool asks_head = head.starts_with("HEAD ");
  const std::string_view path = std::string_view{head}.substr(std::min<std::size_t>(
      head.size(), head.find(' ') == std::string::npos ? 0 : head.find(' ') + 1));
  if (!asks_head && !head.starts_with("GET ")) return;
  if (!path.starts_with(std::string{kPath} + ' ')) {
    send_all(stop, socket,
             "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return;
  }
  const std::optional<Part> part = range_in(head, size_.count());
  const Part sent = part.value_or(Part{0, size_.count() - 1});
  if (sent.from >= size_.count()) {
    send_all(stop, socket,
             fmt::format("HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */{}\r\n"
                         "Content-Length: 0\r\nConnection: close\r\n\r\n",
                         size_.count()));
    return;
  }
  const Bytes length{sent.to - sent.from + 1};
  std::string start = part ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n";
  if (part) {
    start += fmt::format("Content-Range: bytes {}-{}/{}\r\n", sent.from, sent.to, size_.count());
  }
  start += fmt::format(
      "Content-Length: {}\r\nAccept-Ranges: bytes\r\nETag: \"lab-{}\"\r\n"
      "Content-Type: application/octet-stream\r\nConnection: close\r\n\r\n",
      length.count(), size_.count());
  if (send_all(stop, socket, start) && !asks_head) send_file(stop, socket, sent.from, length);
}

bool FileServer::send_file(const std::stop_token& stop, const Fd& socket, std::uint64_t from,
                           Bytes length) {
  const Result<Fd> file = Files::real().open_read(config_.file);
  if (!file) return false;
  std::vector<std::byte> chunk(kChunk);
  std::uint64_t left = length.count();
  while (left > 0) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, kChunk));
    std::this_thread::sleep_until(turn_of(wanted));
    const auto read = Files::real().read_at(*file, from, std::span{chunk}.first(wanted));
    if (!read || *read == 0) return false;
    const std::string_view bytes{reinterpret_cast<const char*>(chunk.data()), *read};
    if (!send_all(stop, socket, bytes)) return false;
    from += *read;
    left -= *read;
  }
  return true;
}

// When that many bytes may be sent.
std::chrono::steady_clock::time_point FileServer::turn_of(std::size_t bytes) {
  const auto now = std::chrono::steady_clock::now();
  if (!config_.per_second) return now;
  const std::chrono::duration<double> takes{static_cast<double>(bytes) /
                                            static_cast<double>(config_.per_second->count())};
  const std::lock_guard lock{mutex_};
  const auto turn = std::max(now, free_at_);
  free_at_ = turn + std::chrono::duration_cast<std::chrono::steady_clock::duration>(takes);
  return turn;
}

}  // namespace hearth::lab
