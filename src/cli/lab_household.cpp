// SPDX-License-Identifier: Apache-2.0
#include "cli/lab_household.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "policy/household/generator.h"

namespace hearth::cli {

Result<household::Trace> household_from(const std::string& path, std::uint64_t seed, int days) {
  if (path.empty()) return household::generate(seed, days);
  if (std::filesystem::is_directory(path)) {
    return fail(ErrorCode::kInvalid, path + " is a directory");
  }
  std::ifstream file{path, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file.eof() && !file.good()) return fail(ErrorCode::kNotFound, path + " cannot be read");
  Result<household::Trace> trace = household::parse_trace(text);
  if (!trace) return Failed{std::move(trace).error().during(path)};
  return trace;
}

}  // namespace hearth::cli
