// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace hearth {

// Where random numbers come from; a test gives a seed and gets the same run again. Not thread-safe.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_{seed} {}

  // Seeded by the kernel.
  static Random from_entropy() {
    std::random_device device;
    return Random{(std::uint64_t{device()} << 32) | device()};
  }

  std::uint64_t next() { return engine_(); }

  // `length` characters of [a-z0-9]: unguessable enough for ids, not for secrets.
  std::string id(std::size_t length) {
    static constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::string out;
    while (out.size() < length) out += kAlphabet[next() % 36];
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace hearth
