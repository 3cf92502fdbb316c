// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/sha256.h"

namespace hearth {

// An incremental SHA-256 that can be put down between two of its blocks and taken up again, also by
// another process: for content that takes longer to read than a process may live. Not thread-safe.
class ResumableSha256 {
 public:
  // Everything there is to know after `bytes` bytes.
  struct State {
    std::array<std::uint32_t, 8> words{};
    std::uint64_t bytes = 0;  // a multiple of kBlock

    friend bool operator==(const State&, const State&) = default;
  };
  static constexpr std::uint64_t kBlock = 64;

  ResumableSha256();
  explicit ResumableSha256(const State& state);
  ~ResumableSha256();
  ResumableSha256(ResumableSha256&& other) noexcept;
  ResumableSha256& operator=(ResumableSha256&& other) noexcept;

  ResumableSha256& add(std::span<const std::byte> bytes);

  // nullopt in the middle of a block.
  std::optional<State> state() const;

  // The object is spent afterwards.
  Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace hearth
