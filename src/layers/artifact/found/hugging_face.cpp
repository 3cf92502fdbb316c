// SPDX-License-Identifier: Apache-2.0
//
// The cache of the huggingface_hub library, as its guide "Understand caching" describes it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "layers/artifact/found/file_group.h"
#include "layers/artifact/found/found_name.h"
#include "layers/artifact/found/layouts.h"

namespace hearth::found {
namespace {

constexpr std::string_view kPrefix = "models--";
constexpr std::size_t kMostOfRef = 256;

struct Repository {
  std::string folder;
  std::string id;     // "org/repo", as its publisher calls it
  std::string above;  // "hf.co/org"
  std::string model;  // "repo"
};

// "models--org--repo"; some old repositories have no organisation.
std::optional<Repository> repository_of(const std::string& root, const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string id = name.substr(kPrefix.size());
  const std::size_t cut = id.find("--");
  Repository repository{root + "/" + name, id, "hf.co", name_part(id)};
  if (cut == std::string::npos) return repository;
  repository.id.replace(cut, 2, "/");
  repository.above += "/" + name_part(id.substr(0, cut));
  repository.model = name_part(id.substr(cut + 2));
  return repository;
}

// The revision "main" first, then what was fetched last.
std::vector<std::string> snapshots_of(Look& look, const Repository& repository) {
  const std::string folder = repository.folder + "/snapshots";
  if (!look.files().info(folder)) {
    look.watch(folder);
    return {};
  }
  const std::string ref = repository.folder + "/refs/main";
  look.watch(ref);
  std::string main;
  if (auto text = look.read_text(ref, kMostOfRef)) main = trimmed(*text, " \t\r\n");
  std::vector<std::pair<std::int64_t, std::string>> dated;
  for (std::string& name : look.list(folder)) {
    const Result<FileInfo> info = look.files().info(folder + "/" + name);
    if (!info || info->kind != FileKind::kDirectory) continue;
    const bool is_main = name == main;
    dated.emplace_back(is_main ? INT64_MAX : info->modified_ns, std::move(name));
  }
  std::ranges::sort(dated, std::ranges::greater{});
  std::vector<std::string> names;
  for (auto& [modified, name] : dated) names.push_back(std::move(name));
  return names;
}

// Large files are stored under their SHA-256, small ones under a shorter digest of another kind.
std::string digest_in(const std::string& real) {
  std::string name = real.substr(real.find_last_of('/') + 1);
  const bool hexadecimal = std::ranges::all_of(
      name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return hexadecimal && name.size() == 64 ? name : std::string{};
}

Origin origin_of(const Repository& repository, const std::string& snapshot, const FileGroup& group,
                 const std::string& tag) {
  Origin origin;
  origin.source = "hf.co/" + repository.id + ":" + tag;
  origin.revision = snapshot;
  for (std::size_t i = 0; i < group.files.size(); ++i) {
    const SeenFile& seen = group.files[i];
    Origin::File file;
    file.name = seen.relative.substr(seen.relative.find_last_of('/') + 1);
    file.url = fmt::format("https://huggingface.co/{}/resolve/{}/{}", repository.id, snapshot,
                           seen.relative);
    file.sha256 = digest_in(group.real[i]);
    file.size = seen.file.size;
    origin.files.push_back(std::move(file));
  }
  return origin;
}

void look_into_repository(Look& look, const Repository& repository) {
  std::set<std::string> taken;  // by newer snapshots
  for (const std::string& snapshot : snapshots_of(look, repository)) {
    const std::string folder = repository.folder + "/snapshots/" + snapshot;
    std::set<std::string> here;
    for (FileGroup& group : group_files(look, look.files_below(folder, Want::kModels))) {
      const std::string tag = tag_in(group.file_stem());
      FoundModel model;
      model.name = name_of(repository.above, repository.model, tag);
      model.fallback = name_of(repository.above, repository.model, name_part(group.file_stem()));
      if (model.name.empty()) {
        look.problem(
            fmt::format("no model's name can be made of {}", shown(group.files.front().path)));
        continue;
      }
      if (taken.contains(model.name)) continue;
      here.insert(model.name);
      model.origin = origin_of(repository, snapshot, group, tag);
      model.paths = std::move(group.real);
      look.add(std::move(model));
    }
    taken.merge(here);
  }
}

}  // namespace

void look_into_hugging_face(Look& look, const std::string& root) {
  for (const std::string& name : look.list(root)) {
    if (const auto repository = repository_of(root, name)) look_into_repository(look, *repository);
  }
}

}  // namespace hearth::found
