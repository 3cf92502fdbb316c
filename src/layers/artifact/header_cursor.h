// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/files.h"
#include "base/sha256.h"

namespace hearth::gguf {

// Reads the head of an untrusted file from front to back in pieces of at most 1 MiB, hashing what
// it passes. No length found in the file is believed before the file has been shown to be that
// long, so nothing larger than the buffer and the kept part of one text is ever allocated; and no
// more than 32 MiB are read, so all kept texts together stay below that.
//
// The first failure sticks: from then on every read gives zero or empty, and ok() is false. Loops
// over counts from the file must look at ok(). Not thread-safe; blocks on the disk.
class HeaderCursor {
 public:
  HeaderCursor(const Files& files, const Fd& file, Bytes file_size);

  // A little-endian number.
  template <class T>
  T number(std::string_view what) {
    static_assert(std::is_arithmetic_v<T> && std::endian::native == std::endian::little);
    T value{};
    if (need(sizeof(T), what) && fill(sizeof(T))) {
      std::memcpy(&value, buffer_.data() + at_, sizeof(T));
      at_ += sizeof(T);
    }
    return value;
  }

  // A text behind its length: the first `keep` bytes of it. The rest is passed over. text() is made
  // printable; raw_text() keeps its lines and is well-formed UTF-8.
  std::string text(std::string_view what, std::size_t keep);
  std::string raw_text(std::string_view what, std::size_t keep);
  void skip(std::uint64_t bytes, std::string_view what);
  void skip_text(std::string_view what) { skip(number<std::uint64_t>(what), what); }

  // Fails unless `count` things of at least `each` bytes can still be in the file.
  bool room_for(std::uint64_t count, std::uint64_t each, std::string_view what);

  std::uint64_t position() const { return base_ + at_; }
  std::uint64_t left() const { return file_size_ - position(); }

  bool ok() const { return !error_; }
  void fail(std::string message);
  Error take_error() { return std::move(*error_); }

  // SHA-256 of everything passed so far; the cursor is spent afterwards.
  Digest digest();

 private:
  std::string kept_bytes(std::string_view what, std::size_t keep);
  bool need(std::uint64_t bytes, std::string_view what);
  bool fill(std::size_t bytes);
  void drop_passed();

  const Files& files_;
  const Fd& file_;
  std::uint64_t file_size_;
  std::vector<std::byte> buffer_;
  std::uint64_t base_ = 0;  // where in the file the buffer begins
  std::size_t at_ = 0;      // next byte to give out
  std::size_t filled_ = 0;
  Sha256 sha_;
  std::optional<Error> error_;
};

// `text` as well-formed UTF-8 without control characters: a file's words may end up on a terminal.
std::string printable(std::string_view text);

}  // namespace hearth::gguf
