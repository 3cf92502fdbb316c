// SPDX-License-Identifier: Apache-2.0
#include "wire/descriptors.h"

#include <cstring>

namespace hearth::wire {

void DescriptorBuffer::attach(msghdr& message, const std::vector<Fd>& descriptors) {
  if (descriptors.empty()) return;
  const std::size_t size = descriptors.size() * sizeof(int);
  std::memset(bytes_, 0, sizeof bytes_);
  message.msg_control = bytes_;
  message.msg_controllen = CMSG_SPACE(size);
  cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(size);
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    const int fd = descriptors[i].get();
    std::memcpy(CMSG_DATA(control) + i * sizeof fd, &fd, sizeof fd);
  }
}

void DescriptorBuffer::offer(msghdr& message) {
  message.msg_control = bytes_;
  message.msg_controllen = sizeof bytes_;
}

std::vector<Fd> DescriptorBuffer::take(msghdr& message) {
  std::vector<Fd> taken;
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
      taken.emplace_back(fd);
    }
  }
  return taken;
}

}  // namespace hearth::wire
