// SPDX-License-Identifier: Apache-2.0
#include "base/secure_random.h"

#include <sys/random.h>

#include <cerrno>

namespace hearth {
namespace {

class KernelRandom final : public SecureRandom {
 public:
  Result<> fill(std::span<unsigned char> into) const override {
    while (!into.empty()) {
      const ssize_t got = ::getrandom(into.data(), into.size(), 0);
      if (got > 0) {
        into = into.subspan(static_cast<std::size_t>(got));
      } else if (errno != EINTR) {
        return fail_errno("random bytes", errno);
      }
    }
    return {};
  }
};

}  // namespace

const SecureRandom& SecureRandom::kernel() {
  static const KernelRandom kKernel;
  return kKernel;
}

}  // namespace hearth
