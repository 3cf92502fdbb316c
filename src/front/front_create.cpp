// SPDX-License-Identifier: Apache-2.0
//
// FrontService's models made from others: create, and blobs that clients bring.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "front/blob_upload.h"
#include "front/front_service.h"
#include "front/made_model.h"
#include "layers/artifact/blob_name.h"

namespace hearth::front {
namespace {

Failed no_digest() {
  return Failed{
      Error{ErrorCode::kInvalid, "a digest is \"sha256:\" and 64 hexadecimal digits"}.at("digest")};
}

}  // namespace

Task<Result<ModelStatus>> FrontService::create_model(CreateRequest request) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  if (const Result<ModelStatus> from = model(request.from); from) request.from = from->name;
  auto look = [this, request] { return making_of(request, blobs_); };
  Result<MakingOf> making = co_await disk_pool_.run(world_.loop, std::move(look));
  if (!making) co_return Failed{std::move(making).error()};

  const NamedModel* taken = find(making->name.key());
  std::string old_artifact;
  std::vector<std::string> old_files;
  if (taken != nullptr && taken->key == making->name.key()) {
    old_artifact = taken->artifact.id;
    for (const Artifact::Shard* file : std::as_const(taken->artifact).files()) {
      old_files.push_back(file->path);
    }
  }
  auto make = [this, making = *making, request] { return make_model(catalogue_, making, request); };
  const Result<NamedModel> made = co_await catalogue_pool_.run(world_.loop, std::move(make));
  // In any case: what failed may have changed something first.
  Result<> refreshed = co_await refresh_catalogue();
  if (!made) co_return Failed{made.error()};
  log::info("model.created", {{"model", made->name}});
  if (!refreshed) co_return Failed{std::move(refreshed).error()};
  const bool replaced = !old_artifact.empty() && holder_of(old_artifact) == nullptr;
  if (replaced) world_.loop.spawn(replace(old_artifact, std::move(old_files)));
  co_return model(made->name);
}

Task<Result<Bytes>> FrontService::blob(std::string digest) {
  const std::optional<std::string> sha256 = parse_sha256(digest);
  if (!sha256) co_return no_digest();
  auto look = [this, sha256 = *sha256] { return blobs_.blob(sha256); };
  const Result<BlobStore::Blob> blob = co_await disk_pool_.run(world_.loop, std::move(look));
  if (!blob) co_return Failed{blob.error()};
  co_return blob->size;
}

Task<Result<std::unique_ptr<BlobUpload>>> FrontService::receive_blob(std::string digest,
                                                                     Bytes size) {
  const std::optional<std::string> sha256 = parse_sha256(digest);
  if (!sha256) co_return no_digest();
  auto begin = [this, sha256 = *sha256, size] { return blobs_.receive(sha256, size); };
  Result<BlobStore::Incoming> incoming = co_await disk_pool_.run(world_.loop, std::move(begin));
  if (!incoming) co_return Failed{std::move(incoming).error()};
  std::unique_ptr<BlobUpload> upload =
      std::make_unique<PooledUpload>(world_.loop, disk_pool_, std::move(*incoming));
  co_return std::move(upload);
}

// What a name has in place of the file's own template, if the engine can run it.
std::string FrontService::template_of(const std::string& name) const {
  const Result<ModelName> parsed = ModelName::parse(name);
  const NamedModel* named = parsed ? find(parsed->key()) : nullptr;
  if (named == nullptr || !is_jinja(named->settings.chat_template)) return {};
  return named->settings.chat_template;
}

}  // namespace hearth::front
