// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/forwarding_files.h"
#include "layers/testing/temp_dir.h"

namespace hearth::testing {

// A system of a test's own: every path is looked up below a directory, links too.
class SystemFiles : public ForwardingFiles {
 public:
  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path{root_ / path}.parent_path());
    std::ofstream{root_ / path} << text;
  }
  // A link at `path` to `to`, both absolute in this system.
  void link(const std::string& path, const std::string& to) {
    std::filesystem::create_directories(std::filesystem::path{root_ / path}.parent_path());
    std::filesystem::create_directories(root_ / to);
    std::filesystem::create_directory_symlink(root_ / to, root_ / path);
  }

  Result<Fd> open_read(const std::string& path) const override {
    return Files::real().open_read(root_ / path);
  }
  Result<FileInfo> info(const std::string& path) const override {
    return Files::real().info(root_ / path);
  }
  Result<FileInfo> info(const Fd& file) const override { return Files::real().info(file); }
  Result<std::string> real_path(const std::string& path) const override {
    Result<std::string> real = Files::real().real_path(root_ / path);
    if (!real) return real;
    const std::string below = root_.path() + "/";
    return "/" + (real->starts_with(below) ? real->substr(below.size()) : *real);
  }
  Result<std::vector<std::string>> list(const std::string& path) const override {
    return Files::real().list(root_ / path);
  }

 private:
  TempDir root_;
};

}  // namespace hearth::testing
