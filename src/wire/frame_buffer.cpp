// SPDX-License-Identifier: Apache-2.0
#include "wire/frame_buffer.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

#include "wire/descriptors.h"
#include "wire/frame_header.h"

namespace hearth::wire {

void FrameBuffer::append(std::span<const std::byte> bytes) {
  drop_consumed();
  bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<std::optional<Frame>> FrameBuffer::next() {
  const std::string_view rest = std::string_view{bytes_}.substr(consumed_);
  if (rest.size() < kHeaderSize) return std::optional<Frame>{};
  Result<FrameHeader> header = FrameHeader::decode(rest.substr(0, kHeaderSize));
  if (!header) return Failed{std::move(header).error()};
  if (header->descriptors != 0) {
    return fail(ErrorCode::kCorrupt, "frame with descriptors from a worker");
  }
  if (rest.size() - kHeaderSize < header->payload_size) return std::optional<Frame>{};
  Frame frame;
  frame.type = header->type;
  frame.request = header->request;
  frame.payload = rest.substr(kHeaderSize, header->payload_size);
  consumed_ += kHeaderSize + header->payload_size;
  return std::optional<Frame>{std::move(frame)};
}

void FrameBuffer::drop_consumed() {
  constexpr std::size_t kKeptCapacity = std::size_t{256} << 10;
  if (consumed_ == 0) return;
  bytes_.erase(0, consumed_);
  consumed_ = 0;
  // One huge reply must not hold its memory for the rest of the worker's life.
  if (bytes_.empty() && bytes_.capacity() > kKeptCapacity) bytes_.shrink_to_fit();
}

std::string encode_header(const Frame& frame) {
  FrameHeader header;
  header.payload_size = static_cast<std::uint32_t>(frame.payload.size());
  header.type = frame.type;
  header.descriptors = static_cast<std::uint16_t>(frame.descriptors.size());
  header.request = frame.request;
  const auto bytes = header.encode();
  return std::string{bytes.data(), bytes.size()};
}

Result<std::size_t> send_some(int fd, std::string_view bytes, const std::vector<Fd>& descriptors) {
  if (descriptors.size() > kMaxDescriptors) {
    return fail(ErrorCode::kInternal, "more descriptors than a frame may carry");
  }
  if (bytes.empty()) return std::size_t{0};
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  DescriptorBuffer control;
  control.attach(message, descriptors);
  for (;;) {
    const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN || errno == EWOULDBLOCK) return std::size_t{0};
    if (errno != EINTR) return fail_errno("send to worker", errno);
  }
}

}  // namespace hearth::wire
