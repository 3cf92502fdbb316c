// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace hearth {

// Owns a file descriptor; -1 means none. Move-only; closing is the only thing it does.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_{fd} {}
  Fd(Fd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  Fd& operator=(Fd&& other) noexcept {
    Fd moved{std::move(other)};
    std::swap(fd_, moved.fd_);
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

  // Gives the descriptor away; the caller closes it.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace hearth
