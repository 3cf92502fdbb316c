// SPDX-License-Identifier: Apache-2.0
#include "base/fd.h"

#include <unistd.h>

namespace hearth {

void Fd::reset() {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0) ::close(fd);
}

}  // namespace hearth
