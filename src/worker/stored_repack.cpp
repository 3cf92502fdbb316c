// SPDX-License-Identifier: Apache-2.0
#include "worker/stored_repack.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "repack/repack_file.h"

namespace hearth::worker {
namespace {

constexpr int kNice = 15;  // nobody waits for it

// The entry of a weight, apart from where it will lie. An output that shares the embedding's bytes
// replaces none of the file: their rows are still looked up there.
repack::Entry entry_of(const engine::Metadata& metadata, const engine::WeightSet& weights,
                       const engine::Weight& weight) {
  repack::Entry entry;
  entry.name = weight.name;
  entry.size = Bytes{weights.repacked(weight).size()};
  const engine::TensorSource* source = metadata.find(weight.name);
  const engine::TensorSource* embedding = metadata.find("token_embd.weight");
  entry.shard = source->shard;
  entry.source_offset = source->offset;
  const bool shared = source != embedding && embedding != nullptr &&
                      source->shard == embedding->shard && source->offset == embedding->offset;
  entry.source_size = shared ? Bytes{} : source->size;
  return entry;
}

}  // namespace

repack::Key key_of(const OpenedModel& opened, const std::string& content) {
  return {content, opened.platform.engine, opened.platform.driver, opened.platform.hardware,
          opened.placement.layout};
}

Result<UsableRepack> open_stored(const OpenedModel& opened, const std::string& content,
                                 const Fd& file) {
  auto table = repack::read_table(Files::real(), file);
  if (!table) return fail(ErrorCode::kCorrupt, table.error().message());
  const std::string_view other = repack::difference(table->key, key_of(opened, content));
  if (!other.empty()) return fail(ErrorCode::kCorrupt, std::string{other});
  UsableRepack usable;
  for (const repack::Entry& entry : table->entries) {
    usable.places[entry.name] = {entry.offset, entry.size};
    usable.checksums[entry.name] = entry.checksum;
  }
  return usable;
}

RepackStore::RepackStore(const OpenedModel& opened, const engine::WeightSet& weights,
                         std::string content, Fd file, OnStored on_stored)
    : opened_{opened}, weights_{weights} {
  thread_ = std::jthread{[this, content = std::move(content), file = std::move(file),
                          on_stored = std::move(on_stored)]() mutable {
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
    const TimePoint begin = Clock::real().now();
    auto stored = write(std::move(content), std::move(file));
    if (stop_) return;
    Stored told;
    if (stored) {
      told = std::move(*stored);
    } else {
      told.message.error = stored.error().message();
    }
    told.message.time = Clock::real().now() - begin;
    on_stored(std::move(told));
  }};
}

RepackStore::~RepackStore() { stop_ = true; }

Result<RepackStore::Stored> RepackStore::write(std::string content, Fd file) const {
  std::vector<const engine::Weight*> repacked;
  std::vector<repack::Entry> entries;
  for (const engine::Weight& weight : weights_.weights()) {
    if (!weights_.is_repacked(weight)) continue;
    repacked.push_back(&weight);
    entries.push_back(entry_of(*opened_.metadata, weights_, weight));
  }
  if (repacked.empty()) return fail(ErrorCode::kConflict, "nothing of this model is repacked");
  auto writer = repack::Writer::begin(Files::real(), file, key_of(opened_, content), entries);
  if (!writer) return Failed{std::move(writer).error()};
  for (std::size_t i = 0; i < repacked.size(); ++i) {
    if (stop_) return fail(ErrorCode::kCancelled, "given up");
    if (auto added = writer->add(i, weights_.repacked(*repacked[i])); !added) {
      return Failed{std::move(added).error()};
    }
  }
  auto size = writer->finish();
  if (!size) return Failed{std::move(size).error()};
  auto table = repack::read_table(Files::real(), file);
  if (!table) return Failed{std::move(table).error()};
  Stored stored;
  stored.message.bytes = *size;
  for (const repack::Entry& entry : table->entries) {
    stored.places[entry.name] = {entry.offset, entry.size};
  }
  stored.file = std::move(file);
  return stored;
}

}  // namespace hearth::worker
