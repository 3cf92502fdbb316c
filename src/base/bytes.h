// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace hearth {

// A count of bytes. It is not a number of pages, blocks or tokens, and it does not convert to one
// by accident: the only way in is a literal or Bytes{n}, the only way out is count().
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t n) : n_{n} {}

  constexpr std::uint64_t count() const { return n_; }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes{a.n_ + b.n_}; }

  // Saturates at zero: "how much is still missing" is never negative.
  friend constexpr Bytes operator-(Bytes a, Bytes b) {
    return a < b ? Bytes{} : Bytes{a.n_ - b.n_};
  }

  constexpr Bytes& operator+=(Bytes b) { return *this = *this + b; }

 private:
  std::uint64_t n_ = 0;
};

namespace literals {
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes{n << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes{n << 20}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes{n << 30}; }
}  // namespace literals

}  // namespace hearth
