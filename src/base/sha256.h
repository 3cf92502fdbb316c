// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hearth {

using Digest = std::array<unsigned char, 32>;

// Incremental SHA-256 (FIPS 180-4) by OpenSSL. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& add(std::span<const std::byte> bytes);
  Sha256& add(std::string_view text);

  // The object is spent afterwards.
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string hex_of(std::span<const unsigned char> bytes);

}  // namespace hearth
