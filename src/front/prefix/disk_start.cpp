// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/log.h"
#include "front/prefix/disk_blocks.h"

namespace hearth::front {

struct DiskBlocks::Start {
  std::string secret;
  std::vector<BlockDomain> domains;
  std::vector<BlockCatalogue::Row> rows;  // a predecessor before those that follow it
  std::vector<Digest> lost;               // rows without a file
  std::map<std::string, std::uint64_t> refused;
  WriteBudget::State day;
};

namespace {

using Row = BlockCatalogue::Row;

// The row of a record on disk: as it was noted, or made anew from its header.
Result<Row> row_for(const BlockFiles& files, const BlockFiles::Found& found, const Row* noted) {
  const bool known = noted != nullptr && !noted->tokens.empty();
  if (known && noted->root == found.root && noted->bytes == found.size) {
    return *noted;
  }
  const Result<blocks::Header> header = files.header(found);
  if (!header) return Failed{header.error()};
  Row row;
  row.digest = found.digest;
  row.root = found.root;
  row.parent = header->parent;
  row.first = header->first;
  row.bytes = found.size;
  row.tokens = header->tokens;
  row.used_us = found.used_us;
  if (noted == nullptr || known) return row;
  row.used_us = noted->used_us;
  row.hits = noted->hits;
  row.module = noted->module;
  return row;
}

// Sorts by last use, but a predecessor before its followers, and leaves out those without one.
class InOrder {
 public:
  explicit InOrder(std::vector<Row> rows) : rows_{std::move(rows)}, done_(rows_.size(), false) {
    std::ranges::sort(rows_, {}, &Row::used_us);
    for (std::size_t i = 0; i < rows_.size(); ++i) by_digest_.emplace(rows_[i].digest, i);
  }

  std::vector<Row> ordered() {
    std::vector<Row> all;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (const std::size_t each : path_to(i)) {
        done_[each] = true;
        all.push_back(rows_[each]);
      }
    }
    return all;
  }
  std::vector<Row> orphans() const {
    std::vector<Row> orphans;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!done_[i]) orphans.push_back(rows_[i]);
    }
    return orphans;
  }

 private:
  // Those on the way from the root that are not done yet; nothing when the way is broken.
  std::vector<std::size_t> path_to(std::size_t at) const {
    std::vector<std::size_t> path;
    while (!done_[at]) {
      path.push_back(at);
      const Row& row = rows_[at];
      if (row.first == 0 && row.parent == row.root) break;
      const auto parent = by_digest_.find(row.parent);
      const bool follows = parent != by_digest_.end() && rows_[parent->second].root == row.root &&
                           rows_[parent->second].first < row.first;
      if (!follows) return {};
      at = parent->second;
    }
    std::ranges::reverse(path);
    return path;
  }

  std::vector<Row> rows_;
  std::vector<bool> done_;
  DigestMap<std::size_t> by_digest_;
};

}  // namespace

DiskBlocks::Start DiskBlocks::read_all() {
  Start start;
  Result<std::string> secret = files_.secret();
  if (!secret) {
    log::warn("prefix.no_disk", {{"reason", secret.error().message()}});
    return start;
  }
  start.secret = std::move(*secret);
  catalogue_.open(world_.directory + "/index.db");
  start.day = catalogue_.last_day();
  DigestMap<Row> noted;
  for (Row& row : catalogue_.rows()) noted.emplace(row.digest, row);
  BlockFiles::Sweep sweep = files_.sweep(start.secret);
  start.domains = std::move(sweep.domains);
  start.refused = std::move(sweep.refused);
  std::vector<Row> rows;
  for (const BlockFiles::Found& found : sweep.records) {
    const auto known = noted.find(found.digest);
    Result<Row> row = row_for(files_, found, known == noted.end() ? nullptr : &known->second);
    if (row) {
      noted.erase(found.digest);
      rows.push_back(std::move(*row));
      continue;
    }
    ++start.refused[row.error().message()];
    if (row.error().code() == ErrorCode::kCorrupt) (void)files_.remove(found.root, found.digest);
  }
  for (const auto& [digest, row] : noted) start.lost.push_back(digest);
  InOrder order{std::move(rows)};
  start.rows = order.ordered();
  for (const Row& row : order.orphans()) {
    ++start.refused["orphan"];
    (void)files_.remove(row.root, row.digest);
    start.lost.push_back(row.digest);
  }
  return start;
}

Task<void> DiskBlocks::open(Bytes limit) {
  const Turn turn = co_await take_turn();
  auto job = [this] { return read_all(); };
  Start start = co_await world_.pool.run(world_.loop, std::move(job));
  std::vector<Gone> gone;
  limit_ = limit;
  (void)tier_.set_budget(limit);
  take_in(std::move(start), gone);
  co_await delete_files(std::move(gone));
}

void DiskBlocks::take_in(Start start, std::vector<Gone>& gone) {
  secret_ = std::move(start.secret);
  refused_ = std::move(start.refused);
  day_ = WriteBudget{start.day};
  removed_.insert(start.lost.begin(), start.lost.end());
  for (BlockDomain& domain : start.domains) world_.book.add(std::move(domain));
  for (const Row& row : start.rows) add_found(row, gone);
  std::uint64_t refused = 0;
  for (const auto& [reason, count] : refused_) refused += count;
  if (blocks_.empty() && refused == 0) return;
  log::info("prefix.found",
            {{"blocks", blocks_.size()}, {"bytes", used().count()}, {"refused", refused}});
}

void DiskBlocks::add_found(const Row& row, std::vector<Gone>& gone) {
  const bool follows = row.first == 0 || blocks_.contains(row.parent);
  Block block{world_.book.find(row.root),
              row.parent,
              row.first,
              row.bytes,
              row.tokens,
              0,
              0,
              row.hits,
              row.module,
              false,
              true};
  block.used_us = block.noted_us = std::min(row.used_us, world_.clock.wall_us());
  if (!follows) {
    gone.push_back({row.root, row.digest});
    removed_.insert(row.digest);
    return;
  }
  const BlockTier::Stay stay = stay_of(block);
  blocks_[row.digest] = std::move(block);
  following_.add(row.digest, row.parent, row.tokens);
  changed_.insert(row.digest);
  const std::vector<Digest> pushed = tier_.add(row.digest, row.parent, row.bytes, stay);
  evicted_ += pushed.size();
  for (const Gone& each : forget(pushed, nullptr)) gone.push_back(each);
  const Digest one[] = {row.digest};
  for (int i = 0; i < std::min(row.hits, BlockTier::kMostUses); ++i) tier_.note_use(one);
}

}  // namespace hearth::front
