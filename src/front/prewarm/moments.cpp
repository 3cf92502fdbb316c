// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/moments.h"

#include <ctime>

#include "base/files.h"
#include "base/text.h"

namespace hearth::front {

Instant Moments::now() const {
  const std::time_t seconds = clock_.wall_us() / 1'000'000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return {boot_.since_boot(), seconds + local.tm_gmtoff};
}

std::string this_boot() {
  return std::string{trimmed(read_small_file("/proc/sys/kernel/random/boot_id"), "\n ")};
}

}  // namespace hearth::front
