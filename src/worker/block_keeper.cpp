// SPDX-License-Identifier: Apache-2.0
#include "worker/block_keeper.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "blocks/block_chain.h"
#include "blocks/block_record.h"
#include "wire/prefix_messages.h"

namespace hearth::worker {
namespace {

constexpr std::size_t kMostQueued = std::size_t{64} << 20;
constexpr std::size_t kPiece = std::size_t{256} << 10;
constexpr int kNice = 10;  // behind whatever computes meanwhile

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

std::size_t size_of(const BlockKeeper::Job& job) {
  return blocks::kHeaderSize + job.state.base.size() + job.state.window.size();
}

blocks::Header header_of(const BlockKeeper::Job& job) {
  blocks::Header header;
  header.root = job.root;
  header.parent = job.parent;
  header.digest = blocks::digest_of(job.parent, job.tokens);
  header.first = job.first;
  header.tokens = job.tokens;
  header.base = Bytes{job.state.base.size()};
  header.window = Bytes{job.state.window.size()};
  header.base_checksum = blocks::checksum_of(bytes_of(job.state.base));
  header.window_checksum = blocks::checksum_of(bytes_of(job.state.window));
  return header;
}

}  // namespace

BlockKeeper::BlockKeeper(const Arena& arena, OnKept on_kept)
    : arena_{arena}, on_kept_{std::move(on_kept)}, thread_{[this] { run(); }} {}

BlockKeeper::~BlockKeeper() {
  const std::lock_guard lock{mutex_};
  stop_ = true;
  changed_.notify_all();
}

bool BlockKeeper::try_put(Job&& job) {
  const std::size_t size = size_of(job);
  const std::lock_guard lock{mutex_};
  if (!jobs_.empty() && queued_ + size > kMostQueued) return false;
  queued_ += size;
  jobs_.push_back(std::move(job));
  changed_.notify_all();
  return true;
}

std::size_t BlockKeeper::unwritten() const {
  const std::lock_guard lock{mutex_};
  return jobs_.size();
}

void BlockKeeper::pause() {
  const std::lock_guard lock{mutex_};
  paused_ = true;
}

void BlockKeeper::go_on() {
  const std::lock_guard lock{mutex_};
  if (std::exchange(paused_, false)) changed_.notify_all();
}

// Whoever stops finishes what is being written.
void BlockKeeper::wait_for_turn() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return stop_ || !paused_; });
}

void BlockKeeper::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
    if (stop_) return;
    const Job& job = jobs_.front();  // stays where it is while others are put behind it
    const std::size_t size = size_of(job);
    lock.unlock();
    on_kept_(keep(job));
    lock.lock();
    queued_ -= size;
    jobs_.pop_front();
  }
}

Result<> BlockKeeper::write(int slot, std::size_t at, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    wait_for_turn();
    const auto piece = bytes.first(std::min(bytes.size(), kPiece));
    if (auto written = arena_.write(slot, at, piece); !written) return written;
    at += piece.size();
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

// What was in the slot before may have been a record too.
Result<> BlockKeeper::write_record(const Job& job) {
  constexpr std::array<std::byte, blocks::kHeaderSize> kNoHeader{};
  const std::size_t window_at = blocks::kHeaderSize + job.state.base.size();
  wait_for_turn();
  const std::string header = blocks::encode(header_of(job));
  if (auto written = arena_.write(job.slot, 0, kNoHeader); !written) return written;
  auto written = write(job.slot, blocks::kHeaderSize, bytes_of(job.state.base));
  if (written) written = write(job.slot, window_at, bytes_of(job.state.window));
  if (written) written = arena_.write(job.slot, 0, bytes_of(header));
  return written;
}

BlockKeeper::Kept BlockKeeper::keep(const Job& job) {
  const Bytes size{size_of(job)};
  const bool is_block = !job.tokens.empty() && job.tokens.size() <= blocks::kBlockTokens;
  if (!is_block || size > wire::kArenaPitch) {
    return {job.id, fail(ErrorCode::kInvalid, "not a block, or larger than a slot")};
  }
  if (auto written = write_record(job); !written) {
    return {job.id, Failed{std::move(written).error()}};
  }
  return {job.id, size};
}

}  // namespace hearth::worker
