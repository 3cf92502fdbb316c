// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hearth::worker {

// Buffers that are used again and again: memory that the process has touched already takes a read
// at several times the speed of new memory. Thread-safe.
class BufferPool {
 public:
  // What a buffer holds at first is undefined.
  struct Buffer {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  explicit BufferPool(std::size_t most_idle) : most_idle_{most_idle} {}

  // Of at least `size` bytes.
  Buffer take(std::size_t size) {
    {
      const std::lock_guard lock{mutex_};
      while (!idle_.empty()) {
        Buffer buffer = std::move(idle_.back());
        idle_.pop_back();
        if (buffer.size >= size) return buffer;
      }
    }
    return {std::make_unique_for_overwrite<std::byte[]>(size), size};
  }

  void give_back(Buffer buffer) {
    const std::lock_guard lock{mutex_};
    if (idle_.size() < most_idle_) idle_.push_back(std::move(buffer));
  }

 private:
  const std::size_t most_idle_;
  std::mutex mutex_;
  std::vector<Buffer> idle_;
};

}  // namespace hearth::worker
