// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "layers/artifact/found/file_group.h"
#include "layers/artifact/found/found_name.h"
#include "layers/artifact/found/layouts.h"

namespace hearth::found {
namespace {

constexpr std::string_view kNoTag = "latest";

// The folders that a file lies in, outermost first.
std::vector<std::string> folders_of(const std::string& stem) {
  std::vector<std::string> folders;
  for (std::size_t begin = 0, slash; (slash = stem.find('/', begin)) != std::string::npos;) {
    folders.push_back(stem.substr(begin, slash - begin));
    begin = slash + 1;
  }
  return folders;
}

void add(Look& look, FileGroup group, std::string name, std::string fallback) {
  if (name.empty()) std::swap(name, fallback);
  if (name.empty()) {
    return look.problem(fmt::format("no model's name can be made of {}; rename the file",
                                    shown(group.files.front().path)));
  }
  FoundModel model;
  model.name = std::move(name);
  model.fallback = std::move(fallback);
  model.paths = std::move(group.real);
  look.add(std::move(model));
}

void add_by_file(Look& look, FileGroup group) {
  const std::string stem = name_part(group.file_stem());
  const std::vector<std::string> folders = folders_of(group.stem);
  std::string nested;
  if (!folders.empty()) nested = name_of(name_part(folders.back()), stem, kNoTag);
  std::string name = name_of("", stem, kNoTag);
  add(look, std::move(group), std::move(name), std::move(nested));
}

}  // namespace

void look_into_lm_studio(Look& look, const std::string& root) {
  for (FileGroup& group : group_files(look, look.files_below(root, Want::kModels))) {
    const std::vector<std::string> folders = folders_of(group.stem);
    if (folders.size() < 2) {
      add_by_file(look, std::move(group));
      continue;
    }
    const std::string publisher = name_part(folders[0]);
    const std::string repository = name_part(folders[1]);
    const std::string stem = group.file_stem();
    std::string name = name_of(publisher, repository, tag_in(stem));
    std::string fallback = name_of(publisher, repository, name_part(stem));
    add(look, std::move(group), std::move(name), std::move(fallback));
  }
}

void look_into_folder(Look& look, const std::string& root) {
  for (FileGroup& group : group_files(look, look.files_below(root, Want::kModels))) {
    add_by_file(look, std::move(group));
  }
}

}  // namespace hearth::found
