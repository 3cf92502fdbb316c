// SPDX-License-Identifier: Apache-2.0
#include "wire/blocking_channel.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <iterator>

#include "wire/descriptors.h"
#include "wire/frame_buffer.h"
#include "wire/frame_header.h"

namespace hearth::wire {
namespace {

Failed gone() { return fail(ErrorCode::kUnavailable, "the other side closed the socket"); }

// Fills `into` and collects the descriptors that ride on these bytes.
Result<std::vector<Fd>> receive_header(int fd, std::array<char, kHeaderSize>& into) {
  std::vector<Fd> descriptors;
  std::size_t done = 0;
  while (done < into.size()) {
    iovec part{into.data() + done, into.size() - done};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    DescriptorBuffer control;
    control.offer(message);
    const ssize_t n = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("receive", errno);
    std::vector<Fd> brought = DescriptorBuffer::take(message);
    std::move(brought.begin(), brought.end(), std::back_inserter(descriptors));
    if (n == 0) return gone();
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
      return fail(ErrorCode::kCorrupt, "descriptors were lost on the way");
    }
    done += static_cast<std::size_t>(n);
  }
  return descriptors;
}

// Without room for descriptors: the kernel closes any that a broken peer attaches to a payload.
Result<> receive_payload(int fd, std::string& into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t n = ::recv(fd, into.data() + done, into.size() - done, 0);
    if (n == 0) return gone();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("receive", errno);
    done += static_cast<std::size_t>(n);
  }
  return {};
}

// Moves `message` past `sent` bytes; false when all has gone.
bool advance(msghdr& message, std::size_t sent) {
  message.msg_control = nullptr;
  message.msg_controllen = 0;
  while (message.msg_iovlen > 0 && sent >= message.msg_iov->iov_len) {
    sent -= message.msg_iov->iov_len;
    ++message.msg_iov;
    --message.msg_iovlen;
  }
  if (message.msg_iovlen == 0) return false;
  message.msg_iov->iov_base = static_cast<char*>(message.msg_iov->iov_base) + sent;
  message.msg_iov->iov_len -= sent;
  return true;
}

}  // namespace

Result<> BlockingChannel::send(const Frame& frame) {
  if (frame.payload.size() > kMaxPayload || frame.descriptors.size() > kMaxDescriptors) {
    return fail(ErrorCode::kInternal,
                fmt::format("a frame of {} bytes and {} descriptors is over the limits",
                            frame.payload.size(), frame.descriptors.size()));
  }
  std::string header = encode_header(frame);
  std::array<iovec, 2> parts{iovec{header.data(), header.size()},
                             iovec{const_cast<char*>(frame.payload.data()), frame.payload.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  DescriptorBuffer control;
  control.attach(message, frame.descriptors);
  const std::lock_guard lock{send_mutex_};
  for (;;) {
    const ssize_t sent = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail_errno("send", errno);
    if (!advance(message, static_cast<std::size_t>(sent))) return {};
  }
}

Result<> BlockingChannel::send_all(std::span<const Frame> frames) {
  std::string bytes;
  for (const Frame& frame : frames) {
    if (frame.payload.size() > kMaxPayload || !frame.descriptors.empty()) {
      return fail(ErrorCode::kInternal, "a frame that cannot be sent along with others");
    }
    bytes += encode_header(frame);
    bytes += frame.payload;
  }
  return write_all(bytes);
}

Result<> BlockingChannel::write_all(std::string_view bytes) {
  const std::lock_guard lock{send_mutex_};
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail_errno("send", errno);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<Frame> BlockingChannel::receive() {
  std::array<char, kHeaderSize> bytes{};
  Result<std::vector<Fd>> descriptors = receive_header(fd_, bytes);
  if (!descriptors) return Failed{std::move(descriptors).error()};
  Result<FrameHeader> header = FrameHeader::decode({bytes.data(), bytes.size()});
  if (!header) return Failed{std::move(header).error()};
  if (descriptors->size() != header->descriptors) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} descriptors came, {} were announced",
                                                 descriptors->size(), header->descriptors));
  }
  Frame frame;
  frame.type = header->type;
  frame.request = header->request;
  frame.descriptors = *std::move(descriptors);
  frame.payload.resize(header->payload_size);
  if (auto read = receive_payload(fd_, frame.payload); !read)
    return Failed{std::move(read).error()};
  return frame;
}

}  // namespace hearth::wire
