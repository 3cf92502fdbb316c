// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/artifact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/sha256.h"
#include "layers/artifact/gguf_header.h"
#include "layers/artifact/shard_name.h"

namespace hearth {
namespace {

constexpr std::array<std::string_view, 6> kStores{"user",   "hearth",   "huggingface",
                                                  "ollama", "lmstudio", "folder"};

std::string file_name_of(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::string identity_of(const Artifact::Shard& shard) {
  return fmt::format("{} {} {} {} {}\n", shard.file.device, shard.file.inode,
                     shard.file.size.count(), shard.file.modified_ns, shard.header_digest);
}

std::string finished(Sha256& sha) {
  const Digest digest = sha.finish();
  return hex_of(digest);
}

std::string id_of(const Artifact& artifact) {
  Sha256 sha;
  for (const Artifact::Shard& shard : artifact.shards) sha.add(identity_of(shard));
  for (const Artifact::Shard& adapter : artifact.adapters) {
    sha.add("adapter " + identity_of(adapter));
  }
  return finished(sha);
}

Artifact::Shard shard_of(std::string path, const GgufHeader& header) {
  Artifact::Shard shard;
  shard.path = std::move(path);
  shard.file = header.file;
  shard.header_digest = header.digest;
  shard.ranges = header.load_ranges();
  return shard;
}

Result<GgufHeader> read_shard(const Files& files, const std::string& path,
                              std::vector<Artifact::Shard>& into) {
  Result<std::string> real = files.real_path(path);
  if (!real) return Failed{std::move(real).error()};
  Result<GgufHeader> header = read_gguf_header(files, *real);
  if (!header) return Failed{std::move(header).error().during(file_name_of(path))};
  into.push_back(shard_of(std::move(*real), *header));
  return header;
}

Result<> check_is_model(const GgufHeader& header, const std::string& path) {
  std::string_view what;
  if (header.type == "adapter") {
    what =
        "a LoRA adapter, which is no model by itself: create a model with FROM its base and "
        "ADAPTER this file";
  } else if (header.type == "mmproj" || header.facts.architecture == "clip") {
    what =
        "the part of a model that sees pictures (mmproj), which is no model by itself: use the "
        "text model it belongs to";
  }
  if (what.empty()) return {};
  return fail(ErrorCode::kUnsupported, fmt::format("{} is {}", file_name_of(path), what));
}

// `index` from 0.
Result<> check_place(const GgufHeader::Split& split, const std::string& path, std::size_t index,
                     std::size_t count) {
  if (split.count == count && split.number == index) return {};
  if (split.count == 0) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is a whole model, not file {} of {}",
                                                 file_name_of(path), index + 1, count));
  }
  return fail(ErrorCode::kCorrupt, fmt::format("{} says it is file {} of {}", file_name_of(path),
                                               split.number + 1, split.count));
}

std::vector<std::string> paths_of(const ShardName& name) {
  std::vector<std::string> paths;
  for (int number = 1; number <= name.count; ++number) paths.push_back(name.sibling(number));
  return paths;
}

Result<Artifact> inspect_set(const Files& files, const std::vector<std::string>& paths) {
  Artifact artifact;
  std::uint64_t tensors = 0, expected = 0, parameters = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Result<GgufHeader> header = read_shard(files, paths[i], artifact.shards);
    if (!header && header.error().code() == ErrorCode::kNotFound) {
      return fail(ErrorCode::kNotFound, fmt::format("file {} of {} is missing: {}", i + 1,
                                                    paths.size(), file_name_of(paths[i])));
    }
    if (!header) return Failed{std::move(header).error()};
    if (auto placed = check_place(header->split, paths[i], i, paths.size()); !placed) {
      return Failed{std::move(placed).error()};
    }
    if (auto model = check_is_model(*header, paths[i]); !model) {
      return Failed{std::move(model).error()};
    }
    if (i == 0) artifact.facts = header->facts;
    expected = std::max(expected, header->split.tensors);
    tensors += header->tensors.size();
    parameters += header->facts.parameters;
  }
  if (tensors != expected) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("the set holds {} tensors but promises {}", tensors, expected));
  }
  artifact.facts.parameters = parameters;
  return artifact;
}

Result<Artifact> inspect_single(const Files& files, const std::string& path) {
  Artifact artifact;
  Result<GgufHeader> header = read_shard(files, path, artifact.shards);
  if (!header) return Failed{std::move(header).error()};
  if (auto model = check_is_model(*header, path); !model) return Failed{std::move(model).error()};
  if (header->split.count > 1) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{} is file {} of {}, but its name does not end in -{:05}-of-{:05}.gguf, so "
                    "the others cannot be found",
                    file_name_of(path), header->split.number + 1, header->split.count,
                    header->split.number + 1, header->split.count));
  }
  artifact.facts = header->facts;
  return artifact;
}

Result<> add_adapter(const Files& files, const std::string& path, Artifact& artifact) {
  const Result<GgufHeader> header = read_shard(files, path, artifact.adapters);
  if (!header) return Failed{header.error()};
  if (header->type == "adapter") return {};
  return fail(ErrorCode::kUnsupported,
              file_name_of(path) + " is no LoRA adapter: its general.type is not \"adapter\"");
}

bool same_heads(const std::vector<Artifact::Shard>& a, const std::vector<Artifact::Shard>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Artifact::Shard& x, const Artifact::Shard& y) {
                      return x.file.size == y.file.size && x.header_digest == y.header_digest;
                    });
}

bool same_file(const Artifact::Shard& a, const Artifact::Shard& b) {
  return a.file.inode == b.file.inode && a.file.size == b.file.size &&
         a.file.modified_ns == b.file.modified_ns && a.header_digest == b.header_digest;
}

void carry(const std::vector<Artifact::Shard>& known, std::vector<Artifact::Shard>& fresh) {
  for (Artifact::Shard& shard : fresh) {
    const auto same = std::ranges::find_if(
        known, [&](const Artifact::Shard& other) { return same_file(other, shard); });
    if (same == known.end()) continue;
    if (!shard.sha256.empty() && shard.sha256 != same->sha256) continue;
    shard.sha256 = same->sha256;
    if (!same->rotten_sha256.empty()) shard.rotten_sha256 = same->rotten_sha256;
  }
}

}  // namespace

std::string_view name_of(ArtifactStatus status) {
  constexpr std::array<std::string_view, 6> kNames{"ok",     "missing", "changed",
                                                   "broken", "absent",  "rotten"};
  return kNames[static_cast<std::size_t>(status)];
}

std::string_view name_of(Store store) { return kStores[static_cast<std::size_t>(store)]; }

std::optional<Store> store_named(std::string_view name) {
  const auto found = std::ranges::find(kStores, name);
  if (found == kStores.end()) return std::nullopt;
  return static_cast<Store>(found - kStores.begin());
}

Bytes Artifact::size() const {
  Bytes total;
  for (const Shard& shard : shards) total += shard.file.size;
  for (const Shard& adapter : adapters) total += adapter.file.size;
  return total;
}

LoadSet Artifact::load_set() const {
  LoadSet set;
  for (const Shard& shard : shards) set.push_back(FileRanges{shard.path, shard.ranges});
  return set;
}

std::vector<const Artifact::Shard*> Artifact::files() const {
  std::vector<const Shard*> all;
  for (const Shard& shard : shards) all.push_back(&shard);
  for (const Shard& adapter : adapters) all.push_back(&adapter);
  return all;
}

std::vector<Artifact::Shard*> Artifact::files() {
  std::vector<Shard*> all;
  for (Shard& shard : shards) all.push_back(&shard);
  for (Shard& adapter : adapters) all.push_back(&adapter);
  return all;
}

std::optional<std::string> Artifact::content() const {
  for (const Shard* file : files()) {
    if (file->sha256.empty() || !file->rotten_sha256.empty()) return std::nullopt;
  }
  if (shards.empty()) return std::nullopt;
  if (shards.size() == 1 && adapters.empty()) return shards.front().sha256;
  Sha256 sha;
  for (const Shard& shard : shards) sha.add(shard.sha256 + "\n");
  for (const Shard& adapter : adapters) sha.add("adapter " + adapter.sha256 + "\n");
  return finished(sha);
}

Result<Artifact> inspect_artifact(const Files& files, const std::string& path) {
  const std::optional<ShardName> name = parse_shard_name(path);
  Result<Artifact> artifact =
      name ? inspect_set(files, paths_of(*name)) : inspect_single(files, path);
  if (artifact) artifact->id = id_of(*artifact);
  return artifact;
}

Result<Artifact> inspect_files(const Files& files, const std::vector<std::string>& paths,
                               const std::vector<std::string>& adapters) {
  if (paths.empty()) return fail(ErrorCode::kNotFound, "the model has no files");
  Result<Artifact> artifact =
      paths.size() == 1 ? inspect_artifact(files, paths.front()) : inspect_set(files, paths);
  if (!artifact) return artifact;
  for (const std::string& adapter : adapters) {
    if (auto added = add_adapter(files, adapter, *artifact); !added) {
      return Failed{std::move(added).error()};
    }
  }
  artifact->id = id_of(*artifact);
  return artifact;
}

void carry_digests(const Artifact& known, Artifact& fresh) {
  carry(known.shards, fresh.shards);
  carry(known.adapters, fresh.adapters);
}

bool same_content(const Artifact& a, const Artifact& b) {
  return same_heads(a.shards, b.shards) && same_heads(a.adapters, b.adapters);
}

}  // namespace hearth
