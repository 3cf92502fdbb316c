// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/found/file_group.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "layers/artifact/found/found_name.h"
#include "layers/artifact/shard_name.h"

namespace hearth::found {
namespace {

using SetKey = std::pair<std::string, int>;  // stem, count
using Sets = std::map<SetKey, std::map<int, SeenFile>>;

// Resolves what belongs to one model; nothing when it is not to be listed now.
void finish(Look& look, FileGroup group, std::vector<FileGroup>& into) {
  for (const SeenFile& seen : group.files) {
    std::optional<std::string> real = look.real_path(seen.path);
    if (!real || look.is_unfinished(seen.file, *real)) return;
    group.real.push_back(std::move(*real));
  }
  into.push_back(std::move(group));
}

void finish_set(Look& look, const SetKey& key, std::map<int, SeenFile> parts,
                std::vector<FileGroup>& into) {
  const auto& [stem, count] = key;
  FileGroup group{stem, {}, {}};
  for (int number = 1; number <= count; ++number) {
    const auto part = parts.find(number);
    if (part == parts.end()) {
      const std::string& any = parts.begin()->second.path;
      return look.problem(fmt::format("{} cannot be used: file {} of {} is missing; fetch it too",
                                      shown(any), number, count));
    }
    group.files.push_back(std::move(part->second));
  }
  finish(look, std::move(group), into);
}

}  // namespace

std::vector<FileGroup> group_files(Look& look, std::vector<SeenFile> files) {
  std::vector<FileGroup> groups;
  Sets sets;
  for (SeenFile& seen : files) {
    if (is_companion(seen.relative.substr(seen.relative.find_last_of('/') + 1))) continue;
    if (const auto shard = parse_shard_name(seen.relative)) {
      sets[SetKey{shard->stem, shard->count}].emplace(shard->number, std::move(seen));
      continue;
    }
    std::string stem = seen.relative.substr(0, seen.relative.size() - 5);  // ".gguf"
    FileGroup group{std::move(stem), {}, {}};
    group.files.push_back(std::move(seen));
    finish(look, std::move(group), groups);
  }
  for (auto& [key, parts] : sets) finish_set(look, key, std::move(parts), groups);
  return groups;
}

}  // namespace hearth::found
