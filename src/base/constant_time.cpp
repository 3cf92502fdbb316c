// SPDX-License-Identifier: Apache-2.0
#include "base/constant_time.h"

#include <openssl/crypto.h>

namespace hearth {

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hearth
