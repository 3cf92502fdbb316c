// SPDX-License-Identifier: Apache-2.0
#include "fetcher/inbox.h"

#include <unistd.h>

#include <utility>

namespace hearth::fetcher {

Inbox::Inbox(wire::BlockingChannel& channel) : channel_{channel} {
  std::thread{[this] { receive(); }}.detach();
}

void Inbox::receive() {
  for (;;) {
    Result<wire::Frame> frame = channel_.receive();
    // Without destructors: other threads are in the middle of their work.
    if (!frame) ::_exit(0);
    {
      const std::lock_guard lock{mutex_};
      waiting_.push_back(*std::move(frame));
    }
    came_.notify_one();
  }
}

wire::Frame Inbox::next() {
  std::unique_lock lock{mutex_};
  came_.wait(lock, [this] { return !waiting_.empty(); });
  wire::Frame frame = std::move(waiting_.front());
  waiting_.pop_front();
  return frame;
}

}  // namespace hearth::fetcher
