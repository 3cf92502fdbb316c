// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <span>
#include <vector>

#include "base/fd.h"
#include "wire/frame.h"

namespace hearth::wire {

// The ancillary part of one sendmsg() or recvmsg(): room for kMaxDescriptors file descriptors,
// attached to a msghdr that must not outlive it.
class DescriptorBuffer {
 public:
  // Puts `descriptors` (at most kMaxDescriptors, possibly none) on a message to be sent.
  void attach(msghdr& message, const std::vector<Fd>& descriptors);

  // Offers all the room there is to a message to be received.
  void offer(msghdr& message);

  // Takes over what a received message brought. The kernel closes what did not fit.
  static std::vector<Fd> take(msghdr& message);

 private:
  alignas(cmsghdr) char bytes_[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
};

}  // namespace hearth::wire
