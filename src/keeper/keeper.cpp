// SPDX-License-Identifier: Apache-2.0
#include "keeper/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/log.h"
#include "wire/blocking_channel.h"
#include "wire/messages.h"

namespace hearth::keeper {
namespace {

using wire::Frame;
using wire::FrameType;

void be_first_to_go() {
  const Fd file{::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)};
  if (!file || ::write(file.get(), "1000", 4) != 4) log::warn("keeper.oom_score_not_set");
}

void allow_all_there_is() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_MEMLOCK, &limit);
}

Frame answer_to(const Frame& frame, const Result<>& kept) {
  if (kept) return wire::make_frame(FrameType::kKept, frame.request, "{}");
  wire::FailedMessage failed;
  failed.code = name_of(kept.error().code());
  failed.message = kept.error().message();
  return wire::make_frame(FrameType::kFailed, frame.request, wire::encode(failed));
}

// Frames from the front, in their order, that can be looked through while a lock is under way.
class Inbox {
 public:
  explicit Inbox(int socket) : socket_{socket}, channel_{socket} {}

  // Waits; nothing once the socket has closed.
  std::optional<Frame> next() {
    if (waiting_.empty()) take_one();
    if (waiting_.empty()) return std::nullopt;
    Frame frame = std::move(waiting_.front());
    waiting_.pop_front();
    return frame;
  }

  // Whether the pages of `id` are still wanted, by all that has come.
  bool wants(std::uint64_t id) {
    while (!closed_ && has_more()) take_one();
    return !closed_ && std::ranges::none_of(waiting_, [id](const Frame& frame) {
      return frame.type == FrameType::kForget && frame.request == id;
    });
  }

  Result<> send(const Frame& frame) { return channel_.send(frame); }

 private:
  bool has_more() const {
    pollfd socket{socket_, POLLIN, 0};
    return ::poll(&socket, 1, 0) > 0;
  }

  void take_one() {
    Result<Frame> frame = channel_.receive();
    if (frame) {
      waiting_.push_back(std::move(*frame));
    } else {
      closed_ = true;
    }
  }

  const int socket_;
  wire::BlockingChannel channel_;
  std::deque<Frame> waiting_;
  bool closed_ = false;
};

Result<> keep(Locks& locks, Inbox& inbox, const Frame& frame) {
  const Result<wire::KeepMessage> message = wire::decode_keep(frame.payload);
  if (!message) return Failed{message.error()};
  const auto go_on = [&inbox, id = frame.request] { return inbox.wants(id); };
  return locks.keep(frame.request, *message, frame.descriptors, go_on);
}

}  // namespace

void run(int socket) {
  be_first_to_go();
  allow_all_there_is();
  Locks locks;
  serve(socket, locks);
}

void serve(int socket, Locks& locks) {
  Inbox inbox{socket};
  while (const auto frame = inbox.next()) {
    if (frame->type == FrameType::kForget) locks.forget(frame->request);
    if (frame->type != FrameType::kKeep) continue;
    const Result<> kept = keep(locks, inbox, *frame);
    if (!inbox.send(answer_to(*frame, kept))) break;
  }
}

}  // namespace hearth::keeper
