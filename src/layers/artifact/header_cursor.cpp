// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/header_cursor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace hearth::gguf {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;
// Five times the largest vocabularies that are known.
constexpr std::uint64_t kMaxHeader = std::uint64_t{32} << 20;

}  // namespace

HeaderCursor::HeaderCursor(const Files& files, const Fd& file, Bytes file_size)
    : files_{files},
      file_{file},
      file_size_{file_size.count()},
      buffer_(static_cast<std::size_t>(std::min<std::uint64_t>(kBufferSize, file_size_))) {}

void HeaderCursor::fail(std::string message) {
  if (!error_) error_.emplace(ErrorCode::kCorrupt, std::move(message));
}

bool HeaderCursor::need(std::uint64_t bytes, std::string_view what) {
  if (!ok()) return false;
  if (bytes > left()) {
    fail(
        fmt::format("the file ends inside {}: {} bytes from byte {} on are needed, the file has {}",
                    what, bytes, position(), file_size_));
  } else if (position() + bytes > kMaxHeader) {
    fail(fmt::format("the header is larger than {} MiB", kMaxHeader >> 20));
  }
  return ok();
}

bool HeaderCursor::room_for(std::uint64_t count, std::uint64_t each, std::string_view what) {
  if (!ok()) return false;
  if (count > left() / each) {
    fail(fmt::format("the file claims {} {}, but only {} bytes follow", count, what, left()));
  }
  return ok();
}

void HeaderCursor::drop_passed() {
  sha_.add(std::span{buffer_.data(), at_});
  std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
  base_ += at_;
  filled_ -= at_;
  at_ = 0;
}

bool HeaderCursor::fill(std::size_t bytes) {
  if (filled_ - at_ >= bytes) return true;
  drop_passed();
  Result<std::size_t> got =
      files_.read_at(file_, base_ + filled_, std::span{buffer_}.subspan(filled_));
  if (!got) {
    error_ = std::move(got).error();
    return false;
  }
  filled_ += *got;
  if (filled_ < bytes) fail("the file became shorter while it was read");
  return ok();
}

void HeaderCursor::skip(std::uint64_t bytes, std::string_view what) {
  if (!need(bytes, what)) return;
  while (bytes > 0 && fill(1)) {
    const std::uint64_t step = std::min<std::uint64_t>(bytes, filled_ - at_);
    at_ += static_cast<std::size_t>(step);
    bytes -= step;
  }
}

std::string HeaderCursor::text(std::string_view what, std::size_t keep) {
  return printable(kept_bytes(what, keep));
}

std::string HeaderCursor::raw_text(std::string_view what, std::size_t keep) {
  return repair_utf8(kept_bytes(what, keep));
}

std::string HeaderCursor::kept_bytes(std::string_view what, std::size_t keep) {
  const auto length = number<std::uint64_t>(what);
  std::string kept;
  if (!need(length, what)) return kept;
  std::uint64_t missing = std::min<std::uint64_t>(length, keep);
  while (missing > 0 && fill(1)) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(missing, filled_ - at_));
    kept.append(reinterpret_cast<const char*>(buffer_.data() + at_), step);
    at_ += step;
    missing -= step;
  }
  if (length > keep) skip(length - keep, what);
  return kept;
}

Digest HeaderCursor::digest() {
  drop_passed();
  return sha_.finish();
}

std::string printable(std::string_view text) {
  std::string clean = repair_utf8(text);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }, ' ');
  return clean;
}

}  // namespace hearth::gguf
