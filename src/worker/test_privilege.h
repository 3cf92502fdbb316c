// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth::worker::test {

// This thread, and those that it will make, may not raise priorities any more; false: they may all
// the same, by the session's limits.
inline bool give_up_nice() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  EXPECT_EQ(::syscall(SYS_capget, &header, data), 0);
  data[0].effective &= ~(1U << CAP_SYS_NICE);
  data[0].permitted &= ~(1U << CAP_SYS_NICE);
  EXPECT_EQ(::syscall(SYS_capset, &header, data), 0);
  rlimit limit{};
  return ::getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur == 0;
}

}  // namespace hearth::worker::test
