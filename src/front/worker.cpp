// SPDX-License-Identifier: Apache-2.0
#include "front/worker.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/log.h"

namespace hearth::front {
namespace {

// How long a worker may take to leave after its socket was closed: freeing gigabytes takes a while.
constexpr std::chrono::milliseconds kExitGrace{5000};

}  // namespace

Worker::Worker(EventLoop& loop, Pool& pool, std::unique_ptr<Process> process, OnFrame on_frame)
    : loop_{loop},
      pool_{pool},
      process_{std::move(process)},
      on_frame_{std::move(on_frame)},
      started_{loop.now()},
      socket_{process_->control()} {
  ::fcntl(socket_, F_SETFL, ::fcntl(socket_, F_GETFL) | O_NONBLOCK);
}

Worker::~Worker() {
  if (leave_timer_ != 0) loop_.cancel(leave_timer_);
}

void Worker::send(wire::Frame frame) {
  if (dead_) return;
  Outgoing out;
  out.bytes = wire::encode_header(frame) + frame.payload;
  out.descriptors = std::move(frame.descriptors);
  outgoing_.push_back(std::move(out));
  if (!awaiting_writable_) flush();
}

void Worker::flush() {
  while (!dead_ && !outgoing_.empty()) {
    Outgoing& first = outgoing_.front();
    static const std::vector<Fd> kNone;
    Result<std::size_t> sent =
        wire::send_some(socket_, std::string_view{first.bytes}.substr(first.sent),
                        first.sent == 0 ? first.descriptors : kNone);
    if (!sent) return;  // run() sees the end of the socket and tells everybody
    first.sent += *sent;
    if (first.sent == first.bytes.size()) {
      outgoing_.pop_front();
      continue;
    }
    awaiting_writable_ = true;
    loop_.when_writable(socket_, [this] {
      awaiting_writable_ = false;
      flush();
    });
    return;
  }
}

bool Worker::read_available() {
  std::array<std::byte, 64 << 10> buffer;
  for (;;) {
    const ssize_t n = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) {
      incoming_.append(std::span{buffer.data(), static_cast<std::size_t>(n)});
      if (!deliver_frames()) return false;
      if (static_cast<std::size_t>(n) < buffer.size()) return true;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

bool Worker::deliver_frames() {
  for (;;) {
    Result<std::optional<wire::Frame>> frame = incoming_.next();
    if (!frame) {
      kill("it sent a malformed frame: " + frame.error().message());
      return false;
    }
    if (!*frame) return true;
    on_frame_(std::move(**frame));
    if (dead_) return false;
  }
}

Task<ExitStatus> Worker::run() {
  while (!dead_) {
    co_await loop_.readable(socket_);
    if (dead_ || !read_available()) break;
  }
  dead_ = true;
  if (leave_timer_ != 0) loop_.cancel(std::exchange(leave_timer_, 0));
  outgoing_.clear();
  loop_.forget(socket_);
  const auto grace = death_note_.empty() ? kExitGrace : std::chrono::milliseconds{0};
  Process* process = process_.get();
  co_return co_await pool_.run(loop_, [process, grace] { return process->stop(grace); });
}

void Worker::close() {
  // After its death the descriptor may be closed already, and its number be somebody else's.
  if (dead_ || closing_) return;
  closing_ = true;
  leave_timer_ = loop_.call_at(loop_.now() + kExitGrace, [this] {
    leave_timer_ = 0;
    kill("it did not leave when it was told to");
  });
  // The worker reads end of file, exits, and its closing end wakes run().
  ::shutdown(socket_, SHUT_WR);
}

void Worker::kill(std::string why) {
  if (dead_) return;
  if (death_note_.empty()) death_note_ = std::move(why);
  log::warn("worker.killed", {{"pid", process_->pid()}, {"reason", death_note_}});
  process_->kill();  // its end of the socket closes with it, which wakes run()
}

void Worker::end() {
  if (dead_) return;
  closing_ = true;
  if (death_note_.empty()) death_note_ = "it was not needed any more";
  process_->kill();
}

}  // namespace hearth::front
