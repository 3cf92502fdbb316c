// SPDX-License-Identifier: Apache-2.0
#include "lab/target/hearth_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "lab/target/server_process.h"

namespace hearth::lab {
namespace {

namespace fs = std::filesystem;

}  // namespace

Result<std::string> copy_hearth(const std::string& program, const std::string& folder) {
  const Result<std::string> given = find_program(program.empty() ? "/proc/self/exe" : program);
  if (!given) return Failed{given.error()};
  std::error_code error;
  const fs::path from = fs::canonical(*given, error);
  const fs::path to = folder;
  if (!error) fs::create_directories(to, error);
  for (const char* name : {"hearth-worker", "hearth-keeper", "hearth-fetcher", "lib"}) {
    const fs::path part = from.parent_path() / name;
    std::error_code missing;
    if (error || !fs::exists(part, missing)) continue;
    fs::copy(part, to / name, fs::copy_options::recursive | fs::copy_options::overwrite_existing,
             error);
  }
  if (!error) fs::copy_file(from, to / "hearth", fs::copy_options::overwrite_existing, error);
  if (error) return fail_errno("copy " + from.string() + " to " + folder, error.value());
  return (to / "hearth").string();
}

std::string hearth_configuration(const TargetOptions& options, const std::string& origin) {
  std::map<std::string, std::string> lines{
      {"stores", "[]"},
      {"pull_hosts", fmt::format("[\"{}\"]", origin)},
      {"prefix_memory_mib", "4096"},
      {"prefix_disk_gib", "50"},
      {"prefix_daily_gib", "1000"},
      {"prewarm", "false"},
      {"verify_days", "0"},
      {"drain_seconds", "1"},
      {"context", std::to_string(options.context)},
  };
  if (options.threads > 0) lines["threads"] = std::to_string(options.threads);
  for (const auto& [key, value] : options.configuration) lines[key] = value;
  std::string text;
  for (const auto& [key, value] : lines) text += fmt::format("{} = {}\n", key, value);
  return text;
}

std::vector<std::string> files_below(const std::string& folder, std::string_view ending) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator entry{folder, error}, end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (path.ends_with(ending) && entry->is_regular_file(error)) found.push_back(path);
  }
  std::ranges::sort(found);
  return found;
}

std::uint64_t size_of(const std::vector<std::string>& files) {
  std::uint64_t total = 0;
  for (const std::string& file : files) {
    std::error_code gone;
    const std::uint64_t size = fs::file_size(file, gone);
    if (!gone) total += size;
  }
  return total;
}

}  // namespace hearth::lab
