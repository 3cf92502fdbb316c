// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "layers/testing/temp_dir.h"

namespace hearth::front::testing {

// A directory that stands for "/", with files of /proc and /sys as a test wants them.
class FakeSystem {
 public:
  std::string root() const { return directory_.path(); }

  void put(const std::string& path, std::string_view text) const {
    std::error_code ignored;  // what cannot be made shows in the write
    std::filesystem::create_directories(std::filesystem::path{root() + path}.parent_path(),
                                        ignored);
    directory_.write(path.substr(1), text);
  }

 private:
  hearth::testing::TempDir directory_;
};

}  // namespace hearth::front::testing
