// SPDX-License-Identifier: Apache-2.0
#include "front/pulls/install.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/log.h"
#include "layers/artifact/blob_name.h"

namespace hearth::front {
namespace {

// What its files hold, or should by their names while nobody has read them.
std::vector<std::string> digests_of(const Artifact& artifact) {
  std::vector<std::string> digests;
  for (const Artifact::Shard* file : artifact.files()) {
    const bool read = !file->sha256.empty();
    digests.push_back(read ? file->sha256 : digest_in_blob_name(file->path).value_or(""));
  }
  return digests;
}

// Files to paths; what came is in the store then.
Result<Catalogue::Installed> store_files(const BlobStore& store, PulledModel& model) {
  Catalogue::Installed installed;
  installed.settings = model.plan.settings;
  installed.origin.source = model.plan.source;
  installed.origin.revision = model.plan.revision;
  for (PulledModel::File& file : model.files) {
    const bool was_here = !file.partial;
    const Result<BlobStore::Blob> blob = file.partial
                                             ? store.install(std::move(*file.partial), file.sha256)
                                             : store.blob(file.sha256);
    if (!blob) return Failed{blob.error()};
    const bool of_model = installed.paths.size() < model.plan.files.size();
    (of_model ? installed.paths : installed.adapters).push_back(blob->path);
    if (was_here) installed.unread.insert(installed.sha256.size());
    installed.sha256.push_back(file.sha256);
    installed.origin.files.push_back(
        {file.planned.name, file.planned.url, file.sha256, file.etag, file.size});
  }
  return installed;
}

// Those that this pull brought.
std::vector<std::string> new_paths(const Catalogue::Installed& installed) {
  std::vector<std::string> paths;
  std::size_t place = 0;
  for (const std::vector<std::string>* files : {&installed.paths, &installed.adapters}) {
    for (const std::string& path : *files) {
      if (!installed.unread.contains(place++)) paths.push_back(path);
    }
  }
  return paths;
}

// Files that no other try could make a model of.
bool is_no_model(ErrorCode code) {
  return code == ErrorCode::kCorrupt || code == ErrorCode::kUnsupported ||
         code == ErrorCode::kInvalid;
}

// Settings by key, of all names that are to stand for it.
Result<std::map<std::string, ModelSettings>> names_for(Catalogue& catalogue,
                                                       const Catalogue::Installed& installed,
                                                       const std::vector<std::string>& wanted) {
  std::map<std::string, ModelSettings> names;
  for (const std::string& name : wanted) {
    const Result<ModelName> parsed = ModelName::parse(name);
    if (!parsed) return Failed{parsed.error()};
    names.emplace(parsed->canonical(), installed.settings);
  }
  const Result<std::vector<NamedModel>> known = catalogue.list();
  if (!known) return Failed{known.error()};
  for (const NamedModel& one : *known) {
    const bool is_back = one.artifact.status == ArtifactStatus::kAbsent &&
                         digests_of(one.artifact) == installed.sha256;
    if (is_back) names.insert_or_assign(one.name, one.settings);
  }
  return names;
}

Result<> write_names(Catalogue& catalogue, Catalogue::Installed installed,
                     const std::vector<std::string>& wanted) {
  const auto names = names_for(catalogue, installed, wanted);
  if (!names) return Failed{names.error()};
  for (const auto& [name, settings] : *names) {
    const Result<ModelName> parsed = ModelName::parse(name);
    if (!parsed) return Failed{parsed.error()};
    installed.settings = settings;
    const Result<NamedModel> written = catalogue.install(*parsed, installed);
    if (!written) return Failed{written.error()};
    log::info("model.installed", {{"model", written->name}});
  }
  return {};
}

}  // namespace

Result<> install_pulled(Catalogue& catalogue, const BlobStore& store, PulledModel model) {
  const Result<Catalogue::Installed> installed = store_files(store, model);
  if (!installed) return Failed{installed.error()};
  Result<> written = write_names(catalogue, *installed, model.names);
  if (written) return written;
  const ErrorCode code = written.error().code();
  if (is_no_model(code)) {
    [[maybe_unused]] const Result<Bytes> dropped =
        drop_unused(catalogue, store, new_paths(*installed));
    return written;
  }
  // Not a file of the store: that would be fetched again.
  const ErrorCode told = code == ErrorCode::kNotFound ? ErrorCode::kUnavailable : code;
  return fail(told, written.error().message() +
                        "; the files are in the store, so pull again once that is put right: "
                        "nothing is fetched twice");
}

Result<Bytes> drop_unused(Catalogue& catalogue, const BlobStore& store,
                          const std::vector<std::string>& paths) {
  const Result<std::vector<std::string>> used = catalogue.paths_in_use();
  if (!used) return Failed{used.error()};
  const std::set<std::string> in_use{used->begin(), used->end()};
  Bytes freed;
  for (const std::string& path : std::set<std::string>{paths.begin(), paths.end()}) {
    const std::optional<std::string> sha256 = digest_in_blob_name(path);
    const bool is_ours = sha256 && store.path_of(*sha256) == path;
    if (!is_ours || in_use.contains(path)) continue;
    const Result<Bytes> removed = store.remove(*sha256);
    if (removed) freed += *removed;
    if (removed || removed.error().code() == ErrorCode::kNotFound) continue;
    log::warn("store.file_not_deleted", {{"error", removed.error().message()}});
  }
  return freed;
}

Result<FetchPlan> plan_again(const NamedModel& model) {
  const Artifact& artifact = model.artifact;
  if (artifact.store != Store::kHearth) {
    return fail(ErrorCode::kUnsupported,
                "the files of \"" + model.name +
                    "\" are not Hearth's own, and it never deletes those; `hearth rm " +
                    model.name + "` only takes the name off the list");
  }
  const std::vector<hearth::Origin::File>& files = artifact.origin.files;
  std::vector<std::string> promised;
  for (const hearth::Origin::File& file : files) promised.push_back(file.sha256);
  if (!artifact.origin.known() || promised != digests_of(artifact)) {
    return fail(ErrorCode::kUnsupported, "nobody knows where \"" + model.name +
                                             "\" could be fetched again; `hearth rm " + model.name +
                                             "` deletes it for good");
  }
  FetchPlan plan;
  plan.source = artifact.origin.source;
  plan.revision = artifact.origin.revision;
  plan.name = model.name;
  plan.settings = model.settings;
  for (const hearth::Origin::File& file : files) {
    const bool of_model = plan.files.size() < artifact.shards.size();
    (of_model ? plan.files : plan.adapters)
        .push_back({file.name, file.url, file.sha256, file.size});
  }
  return plan;
}

}  // namespace hearth::front
