// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/testing/forwarding_files.h"

namespace hearth::testing {

// The real file system until one call, counted from 1 over all that read or look, fails as a broken
// disk would.
class FailingFiles : public ForwardingFiles {
 public:
  explicit FailingFiles(int failing_call) : left_{failing_call} {}

  // Whether the failing call has been reached.
  bool failed() const { return left_ <= 0; }
  int reads() const { return reads_; }

  Result<Fd> open_read(const std::string& path) const override {
    if (fails()) return broken();
    return Files::real().open_read(path);
  }
  Result<FileInfo> info(const std::string& path) const override {
    if (fails()) return broken();
    return Files::real().info(path);
  }
  Result<FileInfo> info(const Fd& file) const override {
    if (fails()) return broken();
    return Files::real().info(file);
  }
  Result<std::size_t> read_at(const Fd& file, std::uint64_t offset,
                              std::span<std::byte> into) const override {
    ++reads_;
    if (fails()) return broken();
    return Files::real().read_at(file, offset, into);
  }
  Result<std::string> real_path(const std::string& path) const override {
    if (fails()) return broken();
    return Files::real().real_path(path);
  }

 private:
  bool fails() const { return --left_ == 0; }
  static Failed broken() { return fail(ErrorCode::kUnavailable, "read: input/output error"); }

  mutable std::atomic<int> left_;
  mutable std::atomic<int> reads_{0};
};

// A count that no test reaches: never fails.
constexpr int kNever = 1 << 30;

}  // namespace hearth::testing
