// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_record.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "blocks/block_chain.h"

namespace hearth::blocks {
namespace {

constexpr std::string_view kMagic{"HearthKV"};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kChecksumAt = kHeaderSize - sizeof(std::uint64_t);
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

class Out {
 public:
  void put(const void* bytes, std::size_t size) {
    std::memcpy(bytes_.data() + at_, bytes, size);
    at_ += size;
  }
  template <class Int>
  void number(Int value) {
    for (std::size_t i = 0; i < sizeof(Int); ++i) {
      bytes_[at_++] = static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xFF);
    }
  }
  void skip_to(std::size_t at) { at_ = at; }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_ = std::string(kHeaderSize, '\0');
  std::size_t at_ = 0;
};

class In {
 public:
  explicit In(std::span<const std::byte> bytes) : bytes_{bytes} {}
  void take(void* into, std::size_t size) {
    std::memcpy(into, bytes_.data() + at_, size);
    at_ += size;
  }
  template <class Int>
  Int number() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Int); ++i) {
      value |= std::to_integer<std::uint64_t>(bytes_[at_++]) << (8 * i);
    }
    return static_cast<Int>(value);
  }
  void skip_to(std::size_t at) { at_ = at; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

Failed corrupt(std::string reason) { return fail(ErrorCode::kCorrupt, std::move(reason)); }

Result<> check_numbers(const Header& header, std::uint32_t tokens) {
  if (tokens == 0 || tokens > kBlockTokens) return corrupt(fmt::format("{} tokens", tokens));
  if (header.first % kBlockTokens != 0) return corrupt(fmt::format("position {}", header.first));
  if (header.base.count() > kMostBytes || header.window.count() > kMostBytes) {
    return corrupt("size");
  }
  return {};
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string encode(const Header& header) {
  Out out;
  out.put(kMagic.data(), kMagic.size());
  out.number(kVersion);
  out.number(static_cast<std::uint32_t>(header.tokens.size()));
  out.number(header.first);
  out.number(std::uint32_t{0});
  out.put(header.root.data(), header.root.size());
  out.put(header.parent.data(), header.parent.size());
  out.put(header.digest.data(), header.digest.size());
  out.number(header.base.count());
  out.number(header.window.count());
  out.number(header.base_checksum);
  out.number(header.window_checksum);
  const std::size_t count = std::min(header.tokens.size(), kBlockTokens);
  for (std::size_t i = 0; i < count; ++i) out.number(static_cast<std::uint32_t>(header.tokens[i]));
  out.skip_to(kChecksumAt);
  out.number(checksum_of(std::as_bytes(std::span{out.bytes()}).first(kChecksumAt)));
  return std::move(out.bytes());
}

Result<Header> decode(std::span<const std::byte> bytes) {
  if (bytes.size() != kHeaderSize) return corrupt("short");
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) return corrupt("no record");
  In in{bytes};
  in.skip_to(kMagic.size());
  if (const auto version = in.number<std::uint32_t>(); version != kVersion) {
    return corrupt(fmt::format("version {}", version));
  }
  Header header;
  const auto tokens = in.number<std::uint32_t>();
  header.first = in.number<std::uint32_t>();
  (void)in.number<std::uint32_t>();
  in.take(header.root.data(), header.root.size());
  in.take(header.parent.data(), header.parent.size());
  in.take(header.digest.data(), header.digest.size());
  header.base = Bytes{in.number<std::uint64_t>()};
  header.window = Bytes{in.number<std::uint64_t>()};
  header.base_checksum = in.number<std::uint64_t>();
  header.window_checksum = in.number<std::uint64_t>();
  for (std::size_t i = 0; i < std::min<std::size_t>(tokens, kBlockTokens); ++i) {
    header.tokens.push_back(static_cast<std::int32_t>(in.number<std::uint32_t>()));
  }
  in.skip_to(kChecksumAt);
  if (in.number<std::uint64_t>() != checksum_of(bytes.first(kChecksumAt))) {
    return corrupt("header checksum");
  }
  if (Result<> right = check_numbers(header, tokens); !right) {
    return Failed{std::move(right).error()};
  }
  if (digest_of(header.parent, header.tokens) != header.digest) return corrupt("digest");
  return header;
}

}  // namespace hearth::blocks
