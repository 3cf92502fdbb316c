// SPDX-License-Identifier: Apache-2.0
#include "front/verify/prune.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "front/signed_count.h"

namespace hearth::front {
namespace {

constexpr std::int64_t kMinuteUs = 60'000'000;

std::string age_of(std::int64_t since_us, std::int64_t now_us) {
  const std::int64_t minutes = std::max<std::int64_t>(0, (now_us - since_us) / kMinuteUs);
  if (minutes < 120) return fmt::format("{} minutes", minutes);
  if (minutes < 2 * 24 * 60) return fmt::format("{} hours", minutes / 60);
  return fmt::format("{} days", minutes / (24 * 60));
}

// Which files are used, however one gets to them.
class InUse {
 public:
  InUse(const Files& files, const std::vector<std::string>& paths) : files_{files} {
    for (const std::string& path : paths) {
      paths_.insert(path);
      if (const Result<FileInfo> info = files.info(path))
        inodes_.emplace(info->device, info->inode);
    }
  }
  // When in doubt, it is.
  bool has(const std::string& path) const {
    const Result<std::string> real = files_.real_path(path);
    const Result<FileInfo> info = files_.info(path);
    if (!real || !info) return true;
    return paths_.contains(path) || paths_.contains(*real) ||
           inodes_.contains({info->device, info->inode});
  }

 private:
  const Files& files_;
  std::set<std::string> paths_;
  std::set<std::pair<dev_t, ino_t>> inodes_;
};

Result<> prune_blobs(const PruneWorld& world, const InUse& in_use, Service::Prune what,
                     std::vector<Prunable>& found) {
  const Result<std::vector<BlobStore::Blob>> blobs = world.store.blobs();
  if (!blobs) return Failed{blobs.error()};
  const std::int64_t old_us =
      world.now_us - std::chrono::duration_cast<std::chrono::microseconds>(kPruneGrace).count();
  for (const BlobStore::Blob& blob : *blobs) {
    if (blob.modified_us > old_us || in_use.has(blob.path)) continue;
    if (what == Service::Prune::kDelete) {
      const Result<Bytes> removed = world.store.remove(blob.sha256);
      if (!removed) log::warn("prune.not_deleted", {{"error", removed.error().message()}});
      if (!removed) continue;
    }
    found.push_back(
        {"unused", "sha256:" + blob.sha256, "no model uses it", signed_count(blob.size)});
  }
  return {};
}

void prune_notes(const PruneWorld& world, const std::vector<NamedModel>& models,
                 Service::Prune what, std::vector<Prunable>& found) {
  HashNotes::InUse used;
  for (const NamedModel& model : models) {
    for (const Artifact::Shard* file : model.artifact.files()) {
      used.unfinished.insert(HashNotes::note_name(file->path, file->file));
      used.contents.insert(file->sha256);
      used.paths.insert(file->path);
    }
  }
  Prunable notes{"leftover", "notes about files", "the files are no more", 0};
  for (const std::string& path : world.notes.leftovers(used)) {
    const Result<FileInfo> info = world.files.link_info(path);
    if (!info) continue;
    if (what == Service::Prune::kDelete && !world.files.remove(path)) continue;
    notes.bytes += signed_count(info->size);
  }
  if (notes.bytes > 0) found.push_back(std::move(notes));
}

}  // namespace

Result<std::vector<Prunable>> prunable_parts(const PruneWorld& world,
                                             const std::set<std::string>& under_way) {
  const Result<std::vector<BlobStore::Partial>> partials = world.store.partials();
  if (!partials) return Failed{partials.error()};
  std::vector<Prunable> found;
  for (const BlobStore::Partial& partial : *partials) {
    if (under_way.contains(partial.key)) continue;
    const std::string& source = partial.about.source;
    found.push_back(
        {"partial", source.empty() ? partial.key : source,
         "a pull that was stopped; nothing came for " + age_of(partial.touched_us, world.now_us),
         signed_count(partial.on_disk)});
  }
  return found;
}

Result<std::vector<Prunable>> prune_store(const PruneWorld& world, Catalogue& catalogue,
                                          Service::Prune what) {
  const Result<std::vector<std::string>> paths = catalogue.paths_in_use();
  if (!paths) return Failed{paths.error()};
  const Result<std::vector<NamedModel>> models = catalogue.list();
  if (!models) return Failed{models.error()};
  std::vector<Prunable> found;
  const InUse in_use{world.files, *paths};
  if (auto done = prune_blobs(world, in_use, what, found); !done) {
    return Failed{std::move(done).error()};
  }
  prune_notes(world, *models, what, found);
  return found;
}

}  // namespace hearth::front
