// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "base/testing/forwarding_files.h"

namespace hearth::testing {

// Files in memory, whose size may be a lie upwards: what is beyond them reads as zeros.
class MemoryFiles : public ForwardingFiles {
 public:
  std::map<std::string, std::string> contents;
  std::uint64_t claimed_more = 0;
  mutable std::uint64_t read = 0;

  Result<Fd> open_read(const std::string& path) const override {
    if (!contents.contains(path)) return fail(ErrorCode::kNotFound, path);
    current_ = path;
    return Fd{};
  }
  Result<FileInfo> info(const Fd&) const override {
    FileInfo info;
    info.kind = FileKind::kRegular;
    info.size = Bytes{contents.at(current_).size() + claimed_more};
    return info;
  }
  Result<std::string> real_path(const std::string& path) const override { return path; }
  Result<std::size_t> read_at(const Fd&, std::uint64_t offset,
                              std::span<std::byte> into) const override {
    const std::string& content = contents.at(current_);
    const std::uint64_t size = content.size() + claimed_more;
    const std::uint64_t left = offset < size ? size - offset : 0;
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left));
    std::ranges::fill(into.first(n), std::byte{0});
    if (offset < content.size()) {
      const std::size_t real = std::min(n, content.size() - static_cast<std::size_t>(offset));
      std::memcpy(into.data(), content.data() + offset, real);
    }
    read += n;
    return n;
  }

 private:
  mutable std::string current_;
};

}  // namespace hearth::testing
