// SPDX-License-Identifier: Apache-2.0
#include "transfer/part_table.h"

#include <algorithm>

namespace hearth::transfer {
namespace {

// A line that damages much of what it carries is not worth more.
constexpr int kMostLooks = 4;
// Hashes of the whole right after a change, in one look. Then there is one more at its end.
constexpr int kEarlyHashes = 4;

}  // namespace

void PartTable::reset(std::optional<Bytes> size, const std::vector<PartRecord>& parts) {
  *this = PartTable{geometry_};
  parts_.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts_[i].digest = parts[i].digest;
    set_filled(parts_[i], parts[i].filled);
  }
  if (size) set_size(*size);
}

void PartTable::set_size(Bytes size) {
  const std::uint64_t part = geometry_.part.count();
  size_ = size;
  parts_.resize((size.count() + part - 1) / part);
  arrived_ = {};
  ahead_ = {};
  search_ = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& each = parts_[i];
    // What is longer than it can be was never this part.
    if (each.filled > length_of(i)) each = {};
    arrived_ += Bytes{each.filled};
    if (each.ahead) ahead_ += Bytes{length_of(i)};
  }
}

Bytes PartTable::hashed() const {
  const Bytes passed{begin_of(mode_ == Mode::kDone ? parts_.size() : cursor())};
  return size_ ? std::min(passed, *size_) : passed;
}

std::size_t PartTable::length_of(std::size_t part) const {
  const std::uint64_t length = geometry_.part.count();
  if (!size_) return length;
  return std::min(length, (*size_ - Bytes{begin_of(part)}).count());
}

bool PartTable::full(std::size_t part) const {
  return part < parts_.size() && parts_[part].filled == length_of(part);
}

PartRecord PartTable::record(std::size_t part) const {
  return {parts_[part].filled, parts_[part].digest};
}

std::optional<PartTable::Run> PartTable::take() {
  if (mode_ == Mode::kDone) return std::nullopt;
  const std::optional<std::size_t> first = first_to_ask();
  if (!first || !may_ask(*first)) return std::nullopt;
  const std::uint64_t most = size_ ? segment_at(*first) : geometry_.segment.count();
  Run run{begin_of(*first), begin_of(*first)};
  if (!full(*first) && *first < parts_.size()) run.begin += parts_[*first].filled;
  std::size_t part = *first;
  do {
    ask(part);
    run.end = begin_of(part) + length_of(part);
    ++part;
  } while (follows(part) && run.end + length_of(part) - begin_of(*first) <= most);
  return run;
}

std::optional<std::size_t> PartTable::first_to_ask() {
  while (search_ < parts_.size() && (full(search_) || parts_[search_].asked)) ++search_;
  if (search_ < parts_.size() || !size_) return search_;
  if (mode_ == Mode::kCompare && opened_ < parts_.size()) return opened_;
  return std::nullopt;
}

bool PartTable::follows(std::size_t part) const {
  if (size_ && part >= parts_.size()) return false;
  if (!may_ask(part)) return false;
  if (part >= parts_.size()) return true;
  if (full(part)) return mode_ == Mode::kCompare && part == opened_;
  return !parts_[part].asked && parts_[part].filled == 0;
}

bool PartTable::may_ask(std::size_t part) const {
  if (part == cursor() || (part < parts_.size() && parts_[part].ahead)) return true;
  return ahead_ + Bytes{length_of(part)} <= geometry_.window;
}

// Less where little is left, so that all connections have something to do until the end.
std::uint64_t PartTable::segment_at(std::size_t part) const {
  const std::uint64_t shares = 2 * static_cast<std::uint64_t>(geometry_.connections);
  const std::uint64_t length = geometry_.part.count();
  const std::size_t last = part + shares * geometry_.segment.count() / length;
  std::uint64_t left = 0;
  for (std::size_t i = part; i < std::min(last, parts_.size()); ++i) {
    const bool opens = mode_ == Mode::kCompare && i >= opened_;
    if (opens || (!full(i) && !parts_[i].asked)) left += length;
  }
  const std::uint64_t share = left / shares / length * length;
  return std::clamp(share, length, geometry_.segment.count());
}

void PartTable::ask(std::size_t part) {
  enter(part);
  parts_[part].asked = true;
}

void PartTable::enter(std::size_t part) {
  if (!size_ && part >= parts_.size()) parts_.resize(part + 1);
  if (part >= parts_.size()) return;
  if (mode_ == Mode::kCompare && part == opened_ && full(part)) {
    ++opened_;
    set_filled(parts_[part], 0);
  }
  if (full(part) || parts_[part].ahead) return;
  parts_[part].ahead = true;
  ahead_ += Bytes{length_of(part)};
}

void PartTable::give_back(std::uint64_t position, std::uint64_t end) {
  for (std::size_t i = part_at(position); i < parts_.size() && begin_of(i) < end; ++i) {
    parts_[i].asked = false;
    search_ = std::min(search_, i);
  }
}

void PartTable::give_back_all() { give_back(0, begin_of(parts_.size())); }

void PartTable::fill(std::size_t part, std::size_t bytes) {
  Part& filling = parts_[part];
  if (filling.filled == 0) filling.fresh = true;
  set_filled(filling, filling.filled + static_cast<std::uint32_t>(bytes));
  if (full(part)) filling.asked = false;
}

void PartTable::set_filled(Part& part, std::uint32_t filled) {
  arrived_ = arrived_ - Bytes{part.filled} + Bytes{filled};
  part.filled = filled;
}

bool PartTable::wants_stream() const {
  if (mode_ == Mode::kDone) return false;
  return !nothing_missing() || (mode_ == Mode::kCompare && opened_ < parts_.size());
}

bool PartTable::blocked_before(std::size_t part) const {
  return cursor() < part && !full(cursor());
}

bool PartTable::too_far_at(std::size_t part) const {
  return ahead_ >= geometry_.window && cursor() < part && full(cursor());
}

bool PartTable::too_early_for(std::size_t part) const {
  return mode_ == Mode::kHash && look_ > 1 && part >= opened_ && full(part);
}

std::optional<PartTable::Turn> PartTable::turn() const {
  const std::size_t part = cursor();
  if (!full(part) || (mode_ == Mode::kCompare && part >= opened_)) return std::nullopt;
  return Turn{part, length_of(part), mode_, parts_[part].digest, parts_[part].fresh};
}

void PartTable::passed(const Turn& turn, const Digest& digest) {
  Part& part = parts_[turn.part];
  const bool another = part.digest && *part.digest != digest;
  part.digest = digest;
  part.fresh = false;
  if (part.ahead) ahead_ = ahead_ - Bytes{length_of(turn.part)};
  part.ahead = false;
  changed_ = changed_ || another;
  if (mode_ == Mode::kHash) {
    ++hash_;
    return;
  }
  ++compare_;
  to_hash_ = to_hash_ || another;
  if (to_hash_ && hashes_ < kEarlyHashes) begin_hash();
}

void PartTable::lost(const Turn& turn) {
  Part& part = parts_[turn.part];
  set_filled(part, 0);
  part.fresh = false;
  part.asked = false;
  search_ = std::min(search_, turn.part);
}

PartTable::Next PartTable::look_again() {
  if (mode_ == Mode::kHash && look_ > 1) {
    mode_ = Mode::kCompare;
    if (compare_ < parts_.size()) return Next::kParts;
  }
  if (mode_ == Mode::kCompare && to_hash_) {
    begin_hash();
    return Next::kParts;
  }
  if (look_ > 1 && !changed_) return Next::kFailed;
  if (look_ == kMostLooks || parts_.empty()) return Next::kFailed;
  ++look_;
  mode_ = Mode::kCompare;
  compare_ = opened_ = 0;
  hashes_ = 0;
  changed_ = false;
  return Next::kParts;
}

void PartTable::begin_hash() {
  mode_ = Mode::kHash;
  hash_ = 0;
  ++hashes_;
  to_hash_ = false;
}

}  // namespace hearth::transfer
