// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/files.h"

namespace hearth::testing {

// Passes every call on to another file system, for tests that change some of them.
class ForwardingFiles : public Files {
 public:
  // `to` must outlive this.
  explicit ForwardingFiles(const Files& to = Files::real()) : to_{to} {}

  Result<Fd> open_read(const std::string& path) const override { return to_.open_read(path); }
  Result<FileInfo> info(const std::string& path) const override { return to_.info(path); }
  Result<FileInfo> info(const Fd& file) const override { return to_.info(file); }
  Result<std::size_t> read_at(const Fd& file, std::uint64_t offset,
                              std::span<std::byte> into) const override {
    return to_.read_at(file, offset, into);
  }
  Result<std::string> real_path(const std::string& path) const override {
    return to_.real_path(path);
  }
  Result<std::vector<std::string>> list(const std::string& directory) const override {
    return to_.list(directory);
  }
  Result<> make_directories(const std::string& path, mode_t mode) const override {
    return to_.make_directories(path, mode);
  }
  Result<FileInfo> link_info(const std::string& path) const override { return to_.link_info(path); }
  Result<Space> space(const std::string& path) const override { return to_.space(path); }
  Result<Fd> open_write(const std::string& path, Create create) const override {
    return to_.open_write(path, create);
  }
  Result<> write_at(const Fd& file, std::uint64_t offset,
                    std::span<const std::byte> bytes) const override {
    return to_.write_at(file, offset, bytes);
  }
  Result<> resize(const Fd& file, Bytes size) const override { return to_.resize(file, size); }
  Result<> allocate(const Fd& file, Bytes size) const override { return to_.allocate(file, size); }
  Result<> sync(const Fd& file) const override { return to_.sync(file); }
  Result<> sync_directory(const std::string& path) const override {
    return to_.sync_directory(path);
  }
  Result<> rename(const std::string& from, const std::string& to) const override {
    return to_.rename(from, to);
  }
  Result<> remove(const std::string& path) const override { return to_.remove(path); }
  Result<> set_modified(const Fd& file, std::int64_t modified_ns) const override {
    return to_.set_modified(file, modified_ns);
  }
  void read_ahead(const Fd& file, std::uint64_t offset, Bytes size) const override {
    to_.read_ahead(file, offset, size);
  }
  void start_write_back(const Fd& file, std::uint64_t offset, Bytes size) const override {
    to_.start_write_back(file, offset, size);
  }
  void drop_cached(const Fd& file, std::uint64_t offset, Bytes size) const override {
    to_.drop_cached(file, offset, size);
  }

 private:
  const Files& to_;
};

}  // namespace hearth::testing
