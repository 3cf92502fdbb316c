// SPDX-License-Identifier: Apache-2.0
#include "cli/privileges.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "cli/format.h"

namespace hearth::cli {
namespace {

constexpr int kFirst = -20;
// RLIMIT_NICE is written as what it is below this.
constexpr int kNiceLimitBase = 20;

bool has_capability(unsigned capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return false;
  return (sets[capability / 32].effective >> (capability % 32) & 1U) != 0;
}

// The hard limit, because that is what the process that locks makes its own.
std::optional<Bytes> lockable() {
  rlimit limit{};
  if (has_capability(CAP_IPC_LOCK) || ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return {};
  if (limit.rlim_max == RLIM_INFINITY) return {};
  return Bytes{limit.rlim_max};
}

int best_nice() {
  rlimit limit{};
  if (has_capability(CAP_SYS_NICE)) return kFirst;
  if (::getrlimit(RLIMIT_NICE, &limit) != 0) return 19;
  constexpr rlim_t kWidest = kNiceLimitBase - kFirst;
  return std::min(19, kNiceLimitBase - static_cast<int>(std::min(limit.rlim_cur, kWidest)));
}

}  // namespace

Privileges own_privileges() { return {lockable(), best_nice()}; }

std::vector<Restriction> restrictions_of(const Privileges& privileges) {
  std::vector<Restriction> found;
  if (privileges.lockable) {
    found.push_back({"lock more than " + format_bytes(*privileges.lockable) + " of pages",
                     "a pin of more is refused",
                     "LimitMEMLOCK in the unit, ulimit -l in a shell, or CAP_IPC_LOCK"});
  }
  if (privileges.best_nice > 0) {
    found.push_back({"raise a thread that has given way", "new threads take over what it has left",
                     "LimitNICE=+0 in the unit, or CAP_SYS_NICE"});
  }
  if (privileges.best_nice > kFirst) {
    found.push_back({"put evaluation further before other programs than nice " +
                         std::to_string(std::min(privileges.best_nice, 0)),
                     "a lower worker_nice is not followed",
                     "LimitNICE in the unit, or CAP_SYS_NICE"});
  }
  return found;
}

}  // namespace hearth::cli
