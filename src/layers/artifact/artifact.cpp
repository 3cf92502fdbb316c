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

std::string id_of(const Artifact& artifact) {
  Sha256 sha;
  for (const Artifact::Shard& shard : artifact.shards) {
    sha.add(fmt::format("{} {} {} {} {}\n", shard.file.device, shard.file.inode,
                        shard.file.size.count(), shard.file.modified_ns, shard.header_digest));
  }
  const Digest digest = sha.finish();
  return hex_of(digest);
}

Artifact::Shard shard_of(std::string path, const GgufHeader& header) {
  Artifact::Shard shard;
  shard.path = std::move(path);
  shard.file = header.file;
  shard.header_digest = header.digest;
  shard.ranges = header.load_ranges();
  return shard;
}

Result<GgufHeader> read_shard(const Files& files, const std::string& path, Artifact& into) {
  Result<std::string> real = files.real_path(path);
  if (!real) return Failed{std::move(real).error()};
  Result<GgufHeader> header = read_gguf_header(files, *real);
  if (!header) return Failed{std::move(header).error().during(file_name_of(path))};
  into.shards.push_back(shard_of(std::move(*real), *header));
  return header;
}

Result<> check_place(const GgufHeader::Split& split, const ShardName& name, int number) {
  const auto count = static_cast<std::uint64_t>(name.count);
  if (split.count == count && split.number + 1 == static_cast<std::uint64_t>(number)) return {};
  return fail(ErrorCode::kCorrupt,
              fmt::format("{} says it is file {} of {}", file_name_of(name.sibling(number)),
                          split.number + 1, split.count));
}

Result<Artifact> inspect_set(const Files& files, const ShardName& name) {
  Artifact artifact;
  std::uint64_t tensors = 0, expected = 0, parameters = 0;
  for (int number = 1; number <= name.count; ++number) {
    const std::string path = name.sibling(number);
    Result<GgufHeader> header = read_shard(files, path, artifact);
    if (!header && header.error().code() == ErrorCode::kNotFound) {
      return fail(ErrorCode::kNotFound, fmt::format("file {} of {} is missing: {}", number,
                                                    name.count, file_name_of(path)));
    }
    if (!header) return Failed{std::move(header).error()};
    if (auto placed = check_place(header->split, name, number); !placed) {
      return Failed{std::move(placed).error()};
    }
    if (number == 1) artifact.facts = header->facts;
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
  Result<GgufHeader> header = read_shard(files, path, artifact);
  if (!header) return Failed{std::move(header).error()};
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

Result<Artifact> inspect_artifact(const Files& files, const std::string& path) {
  const std::optional<ShardName> name = parse_shard_name(path);
  Result<Artifact> artifact = name ? inspect_set(files, *name) : inspect_single(files, path);
  if (artifact) artifact->id = id_of(*artifact);
  return artifact;
}

bool same_content(const Artifact& a, const Artifact& b) {
  return std::equal(a.shards.begin(), a.shards.end(), b.shards.begin(), b.shards.end(),
                    [](const Artifact::Shard& x, const Artifact::Shard& y) {
                      return x.file.size == y.file.size && x.header_digest == y.header_digest;
                    });
}

}  // namespace hearth
