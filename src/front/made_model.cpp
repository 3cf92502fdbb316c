// SPDX-License-Identifier: Apache-2.0
#include "front/made_model.h"

#include <algorithm>
#include <utility>

#include "front/merged_settings.h"
#include "layers/artifact/blob_name.h"

namespace hearth::front {
namespace {

using Named = std::vector<std::pair<std::string, std::string>>;

Result<BlobStore::Blob> blob_named(const BlobStore& store, const std::string& file,
                                   const std::string& digest, const char* field) {
  const std::optional<std::string> sha256 = parse_sha256(digest);
  if (!sha256) {
    return Failed{
        Error{ErrorCode::kInvalid, "\"" + file + "\" needs \"sha256:\" and 64 digits"}.at(field)};
  }
  Result<BlobStore::Blob> blob = store.blob(*sha256);
  if (!blob && blob.error().code() == ErrorCode::kNotFound) {
    return Failed{Error{ErrorCode::kNotFound, "there is no blob " + digest + " for \"" + file +
                                                  "\"; send it to /api/blobs first"}
                      .at(field)};
  }
  return blob;
}

// In the order of their names, as the files of a set are numbered.
Result<std::vector<BlobStore::Blob>> blobs_named(const BlobStore& store, Named files,
                                                 const char* field) {
  std::ranges::sort(files);
  std::vector<BlobStore::Blob> blobs;
  for (const auto& [file, digest] : files) {
    Result<BlobStore::Blob> blob = blob_named(store, file, digest, field);
    if (!blob) return Failed{std::move(blob).error()};
    blobs.push_back(std::move(*blob));
  }
  return blobs;
}

ModelName aside() { return *ModelName::parse("hearth/being-made:aside"); }

Result<NamedModel> take_aside(Catalogue& catalogue, const MakingOf& making) {
  if (!making.path.empty()) return catalogue.import(making.path, aside());
  Catalogue::Installed installed;
  for (const BlobStore::Blob& blob : making.files) {
    installed.paths.push_back(blob.path);
    installed.sha256.push_back(blob.sha256);
  }
  return catalogue.install(aside(), installed);
}

// The name may stand for other files so far: those are given up in one step, and only for files and
// adapters that can be read.
Result<NamedModel> take_files(Catalogue& catalogue, const MakingOf& making,
                              const Catalogue::Derived& derived) {
  if (auto clear = forget_half_made(catalogue); !clear) return Failed{std::move(clear).error()};
  if (auto taken = take_aside(catalogue, making); !taken) return taken;
  Result<NamedModel> made = catalogue.derive(aside(), making.name, derived);
  if (auto gone = forget_half_made(catalogue); made && !gone) return Failed{gone.error()};
  return made;
}

}  // namespace

Result<MakingOf> making_of(const CreateRequest& request, const BlobStore& store) {
  Result<ModelName> name = ModelName::parse(request.name);
  if (!name) return Failed{std::move(name).error().at("name")};
  MakingOf making{*name, std::nullopt, request.path, {}, request.adapter_paths};
  const int sources = (request.from.empty() ? 0 : 1) + (request.path.empty() ? 0 : 1) +
                      (request.files.empty() ? 0 : 1);
  if (sources != 1) {
    return Failed{Error{ErrorCode::kInvalid,
                        sources == 0 ? "say what to make it from: a model's name, or files"
                                     : "a model's name and files exclude each other"}
                      .at("from")};
  }
  if (!request.from.empty()) {
    Result<ModelName> from = ModelName::parse(request.from);
    if (!from) return Failed{std::move(from).error().at("from")};
    making.from = *from;
  }
  Result<std::vector<BlobStore::Blob>> files = blobs_named(store, request.files, "files");
  if (!files) return Failed{std::move(files).error()};
  making.files = std::move(*files);
  const auto adapters = blobs_named(store, request.adapters, "adapters");
  if (!adapters) return Failed{adapters.error()};
  for (const BlobStore::Blob& blob : *adapters) making.adapters.push_back(blob.path);
  return making;
}

Result<NamedModel> make_model(Catalogue& catalogue, const MakingOf& making,
                              const CreateRequest& request) {
  ModelSettings base;
  if (making.from) {
    Result<NamedModel> from = catalogue.find(*making.from);
    if (!from) return Failed{std::move(from).error().at("from")};
    base = std::move(from->settings);
  }
  Result<ModelSettings> settings = merged_settings(std::move(base), request);
  if (!settings) return Failed{std::move(settings).error()};
  const Catalogue::Derived derived{std::move(*settings), making.adapters};
  if (making.from) return catalogue.derive(*making.from, making.name, derived);
  return take_files(catalogue, making, derived);
}

Result<> forget_half_made(Catalogue& catalogue) {
  Result<> gone = catalogue.remove_name(aside());
  if (!gone && gone.error().code() == ErrorCode::kNotFound) return {};
  return gone;
}

}  // namespace hearth::front
