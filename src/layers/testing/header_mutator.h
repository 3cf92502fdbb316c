// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/random.h"

namespace hearth::testing {

// Damages a header as chance or malice would, the same for the same seed.
class HeaderMutator {
 public:
  explicit HeaderMutator(std::uint64_t seed) : random_{seed} {}

  // Of `bytes`, the first `header` ones.
  void mutate(std::string& bytes, std::size_t header = 12'000) {
    for (std::uint64_t n = 1 + random_.next() % 4; n > 0 && !bytes.empty(); --n) {
      const std::size_t at = random_.next() % std::min(header, bytes.size());
      switch (random_.next() % 6) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_.next() % 8));
          break;
        case 1:
          put(bytes, at, kNumbers[random_.next() % kNumbers.size()]);
          break;
        case 2:
          bytes.resize(random_.next() % (bytes.size() + 1));
          break;
        case 3:
          repeat(bytes, at);
          break;
        case 4:
          put(bytes, 8 + 8 * (random_.next() % 2), kNumbers[random_.next() % kNumbers.size()]);
          break;
        default:
          bytes.erase(at, 1 + random_.next() % 64);
      }
    }
  }
  std::uint64_t next() { return random_.next(); }

 private:
  static constexpr std::array<std::uint64_t, 10> kNumbers{std::uint64_t{1} << 60,
                                                          std::uint64_t{1} << 63,
                                                          ~std::uint64_t{0},
                                                          0x7fffffffffffffff,
                                                          0xffffffff,
                                                          std::uint64_t{1} << 32,
                                                          65536,
                                                          131072,
                                                          0,
                                                          1};

  static void put(std::string& bytes, std::size_t at, std::uint64_t value) {
    const std::size_t n = at < bytes.size() ? std::min(sizeof(value), bytes.size() - at) : 0;
    if (n > 0) std::memcpy(bytes.data() + at, &value, n);
  }
  // Keys and tensors stand there twice.
  void repeat(std::string& bytes, std::size_t at) {
    const std::string piece = bytes.substr(at, 1 + random_.next() % 300);
    bytes.insert(at, piece);
  }

  Random random_;
};

}  // namespace hearth::testing
