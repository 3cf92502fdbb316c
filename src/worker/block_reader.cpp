// SPDX-License-Identifier: Apache-2.0
#include "worker/block_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "blocks/block_chain.h"

namespace hearth::worker {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{64} << 20;
constexpr std::uint64_t kAhead = std::uint64_t{16} << 20;  // of a file lane, told to the kernel
constexpr std::size_t kIdleBuffers = 4;
constexpr std::size_t kFileThreads = 2;
constexpr std::size_t kFileLane = 1;
constexpr std::uint64_t kGuessedBase = std::uint64_t{128} << 10;
constexpr std::size_t kPiece = std::size_t{2} << 20;  // after which a reader may be told to stop

using Refusal = tl::unexpected<std::string>;

std::size_t lane_of(wire::BlockTier tier) {
  return tier == wire::BlockTier::kArena ? 0 : kFileLane;
}

Result<> read_file(const Fd& file, std::uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t n = ::pread(file.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("read a block", errno);
    if (n == 0) return fail(ErrorCode::kCorrupt, "short");
    into = into.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

constexpr const char* kChecksum = "checksum";

std::string word_for(const Error& error) {
  return error.code() == ErrorCode::kCorrupt ? "short" : "io";
}

}  // namespace

BlockReader::Block::Block(int place, std::shared_ptr<BufferPool> pool, BufferPool::Buffer buffer)
    : index{place}, pool_{std::move(pool)}, buffer_{std::move(buffer)} {}

BlockReader::Block::~Block() {
  if (pool_ != nullptr && buffer_.bytes != nullptr) pool_->give_back(std::move(buffer_));
}

BlockReader::BlockReader(const Arena* arena, const StoredPrefix& prefix, Range range,
                         std::function<void()> on_progress)
    : arena_{arena},
      prefix_{prefix},
      range_{range},
      on_progress_{std::move(on_progress)},
      pool_{std::make_shared<BufferPool>(kIdleBuffers)},
      end_{std::max(0, range.last - range.first)} {
  for (int place = 0; place < end_; ++place) {
    lanes_[lane_of(stored_at(place).tier)].places.push_back(place);
  }
  const std::array<std::size_t, 2> threads{std::min<std::size_t>(1, lanes_[0].places.size()),
                                           std::min(kFileThreads, lanes_[kFileLane].places.size())};
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    for (std::size_t n = 0; n < threads[i]; ++n) {
      threads_.emplace_back([this, &lane = lanes_[i]] { run(lane); });
    }
  }
}

BlockReader::~BlockReader() {
  const std::lock_guard lock{mutex_};
  stop_ = true;
  room_.notify_all();
}

int BlockReader::index_at(int place) const {
  return range_.direction == Direction::kFromFront ? range_.first + place : range_.last - 1 - place;
}

const StoredPrefix::Block& BlockReader::stored_at(int place) const {
  return prefix_.blocks[static_cast<std::size_t>(index_at(place))];
}

std::optional<BlockReader::Block> BlockReader::take() {
  const std::lock_guard lock{mutex_};
  const auto found = ready_.find(next_);
  if (found == ready_.end() || next_ >= end_) return std::nullopt;
  Block block = std::move(found->second);
  ready_.erase(found);
  waiting_ -= stored_at(next_).size.count();
  ++next_;
  room_.notify_all();
  return block;
}

bool BlockReader::finished() const {
  const std::lock_guard lock{mutex_};
  return next_ >= end_;
}

std::optional<BlockReader::Refused> BlockReader::refused() const {
  const std::lock_guard lock{mutex_};
  return refused_;
}

Bytes BlockReader::read_from(wire::BlockTier tier) const { return Bytes{read_[lane_of(tier)]}; }

void BlockReader::run(Lane& lane) {
  std::call_once(named_, [this] { names_ = blocks::chain_of(prefix_.root, prefix_.tokens); });
  while (const std::optional<Claim> claimed = claim(lane)) {
    for (const int place : claimed->advise) {
      const auto size = static_cast<off_t>(wanted_of(index_at(place)));
      ::posix_fadvise(stored_at(place).file.get(), 0, size, POSIX_FADV_WILLNEED);
    }
    put(claimed->place, read(index_at(claimed->place)));
  }
}

// The block that is to be taken next is always read: others may fill all the room meanwhile.
std::optional<BlockReader::Claim> BlockReader::claim(Lane& lane) {
  std::unique_lock lock{mutex_};
  const auto is_over = [&] { return stop_ || lane.places.empty() || lane.places.front() >= end_; };
  room_.wait(lock, [&] {
    if (is_over() || lane.places.front() == next_) return true;
    return waiting_ + stored_at(lane.places.front()).size.count() <= kMostWaiting;
  });
  if (is_over()) return std::nullopt;
  Claim claim{lane.places.front(), {}};
  lane.places.pop_front();
  if (lane.advised > 0) --lane.advised;
  waiting_ += stored_at(claim.place).size.count();
  if (&lane == &lanes_[kFileLane]) claim.advise = files_ahead(lane);
  return claim;
}

// So far ahead of what is being read the device is at work already.
std::vector<int> BlockReader::files_ahead(Lane& lane) const {
  std::vector<int> files;
  std::uint64_t ahead = 0;
  for (std::size_t i = 0; i < lane.places.size() && ahead < kAhead; ++i) {
    ahead += wanted_of(index_at(lane.places[i]));
    if (i < lane.advised) continue;
    files.push_back(lane.places[i]);
    lane.advised = i + 1;
  }
  return files;
}

// How much of a record is read; a guess, while no header has told how much its base takes.
std::uint64_t BlockReader::wanted_of(int index) const {
  const std::uint64_t size = prefix_.blocks[static_cast<std::size_t>(index)].size.count();
  if (wants_window(index)) return size;
  return std::min(size, blocks::kHeaderSize + (base_size_ > 0 ? base_size_.load() : kGuessedBase));
}

void BlockReader::put(int place, tl::expected<Block, std::string> read) {
  {
    const std::lock_guard lock{mutex_};
    if (read) {
      ready_.emplace(place, std::move(*read));
    } else if (place < end_) {
      end_ = place;
      refused_ = Refused{index_at(place), std::move(read).error()};
    }
    if (stop_) return;
    room_.notify_all();
  }
  const std::lock_guard lock{telling_};
  on_progress_();
}

bool BlockReader::wants_window(int index) const { return index >= range_.window_from; }

Result<> BlockReader::read_bytes(const StoredPrefix::Block& block, std::uint64_t offset,
                                 std::span<std::byte> into) {
  while (!into.empty()) {
    if (stop_) return fail(ErrorCode::kCancelled, "stopped");
    const auto piece = into.first(std::min(into.size(), kPiece));
    auto read = block.tier == wire::BlockTier::kDisk ? read_file(block.file, offset, piece)
                                                     : read_arena(block.slot, offset, piece);
    if (!read) return read;
    read_[lane_of(block.tier)] += piece.size();
    into = into.subspan(piece.size());
    offset += piece.size();
  }
  return {};
}

Result<> BlockReader::read_arena(int slot, std::uint64_t offset, std::span<std::byte> into) const {
  if (arena_ == nullptr) return fail(ErrorCode::kUnavailable, "there is no arena");
  return arena_->read(slot, offset, into);
}

tl::expected<BlockReader::Block, std::string> BlockReader::read(int index) {
  const StoredPrefix::Block& stored = prefix_.blocks[static_cast<std::size_t>(index)];
  std::array<std::byte, blocks::kHeaderSize> first{};
  if (auto got = read_bytes(stored, 0, first); !got) return Refusal{word_for(got.error())};
  auto header = blocks::decode(first);
  if (!header) return Refusal{kChecksum};
  if (!is_wanted(*header, index)) return Refusal{"tokens"};
  if (header->record_size() != stored.size) return Refusal{"short"};
  base_size_ = header->base.count();

  const std::size_t base = header->base.count();
  const std::size_t window = wants_window(index) ? header->window.count() : 0;
  Block block{index, pool_, pool_->take(base + window)};
  const std::span<std::byte> bytes{block.buffer_.bytes.get(), base + window};
  if (auto got = read_bytes(stored, blocks::kHeaderSize, bytes); !got) {
    return Refusal{word_for(got.error())};
  }
  block.tier = stored.tier;
  block.base = bytes.first(base);
  block.window = bytes.subspan(base);
  if (blocks::checksum_of(block.base) != header->base_checksum) return Refusal{kChecksum};
  if (window > 0 && blocks::checksum_of(block.window) != header->window_checksum) {
    return Refusal{kChecksum};
  }
  block.header = std::move(*header);
  return block;
}

// The names settle all earlier tokens; this block's are compared one by one all the same. One that
// the prompt leaves, or that ends before a whole block does, has a name of its own, but the same
// predecessor.
bool BlockReader::is_wanted(const blocks::Header& header, int index) const {
  const auto place = static_cast<std::size_t>(index);
  const std::size_t at = place * blocks::kBlockTokens;
  const auto count = static_cast<std::size_t>(prefix_.blocks[place].tokens);
  if (at + count > prefix_.tokens.size() || count > header.tokens.size()) return false;
  const auto wanted = std::span{prefix_.tokens}.subspan(at, count);
  const Digest& parent = place == 0 ? prefix_.root : names_[place - 1];
  const bool named =
      count == blocks::kBlockTokens ? header.digest == names_[place] : header.parent == parent;
  return header.root == prefix_.root && header.first == at && named &&
         std::equal(wanted.begin(), wanted.end(), header.tokens.begin());
}

}  // namespace hearth::worker
