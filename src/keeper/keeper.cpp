// SPDX-License-Identifier: Apache-2.0
#include "keeper/keeper.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>

#include "base/fd.h"
#include "base/log.h"
#include "keeper/locks.h"
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

Result<> keep(Locks& locks, const Frame& frame) {
  const Result<wire::KeepMessage> message = wire::decode_keep(frame.payload);
  if (!message) return Failed{message.error()};
  return locks.keep(frame.request, *message, frame.descriptors);
}

Frame answer_to(const Frame& frame, const Result<>& kept) {
  if (kept) return wire::make_frame(FrameType::kKept, frame.request, "{}");
  wire::FailedMessage failed;
  failed.code = name_of(kept.error().code());
  failed.message = kept.error().message();
  return wire::make_frame(FrameType::kFailed, frame.request, wire::encode(failed));
}

}  // namespace

void run(int socket) {
  be_first_to_go();
  allow_all_there_is();
  wire::BlockingChannel channel{socket};
  Locks locks;
  while (auto frame = channel.receive()) {
    if (frame->type == FrameType::kForget) locks.forget(frame->request);
    if (frame->type != FrameType::kKeep) continue;
    const Result<> kept = keep(locks, *frame);
    if (!channel.send(answer_to(*frame, kept))) break;
  }
}

}  // namespace hearth::keeper
