// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/small_file.h"

#include <cctype>
#include <vector>

namespace hearth {

std::string small_text(const Files& files, const std::string& path) {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  constexpr std::size_t kStep = 4096;
  const Result<Fd> file = files.open_read(path);
  if (!file) return {};
  std::string text;
  std::vector<std::byte> buffer(kStep);
  while (text.size() < kMost) {
    const Result<std::size_t> got = files.read_at(*file, text.size(), buffer);
    if (!got) return {};
    text.append(reinterpret_cast<const char*>(buffer.data()), *got);
    if (*got < buffer.size()) break;
  }
  const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\0')) text.pop_back();
  return text;
}

}  // namespace hearth
