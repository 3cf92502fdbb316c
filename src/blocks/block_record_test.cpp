// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <ostream>

#include "base/random.h"
#include "blocks/block_chain.h"

namespace hearth::blocks {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

Header header() {
  Header h;
  h.root = root_of({"model", "alice", "secret"});
  h.tokens.resize(kBlockTokens);
  std::iota(h.tokens.begin(), h.tokens.end(), 100);
  h.tokens.front() = -1;
  h.tokens.back() = 0x7fffffff;
  h.parent = digest_of(h.root, h.tokens);
  h.digest = digest_of(h.parent, h.tokens);
  h.first = kBlockTokens;
  h.base = Bytes{2'097'152};
  h.window = Bytes{524'288};
  h.base_checksum = 0x0123456789abcdef;
  h.window_checksum = ~std::uint64_t{0};
  return h;
}

// Puts a right checksum under what may be wrong, as a forger or an older version of us would.
std::string sealed(std::string record) {
  const std::uint64_t sum = checksum_of(bytes_of(record).first(kHeaderSize - 8));
  for (std::size_t i = 0; i < 8; ++i) {
    record[kHeaderSize - 8 + i] = static_cast<char>((sum >> (8 * i)) & 0xFF);
  }
  return record;
}

std::string reason_of(const std::string& record) {
  const auto decoded = decode(bytes_of(record));
  if (decoded) return "sound";
  EXPECT_EQ(decoded.error().code(), ErrorCode::kCorrupt);
  return decoded.error().message();
}

TEST(BlockRecord, ComesBackAsItWas) {
  const std::string record = encode(header());
  ASSERT_EQ(record.size(), kHeaderSize);
  const auto decoded = decode(bytes_of(record));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(*decoded, header());
  EXPECT_EQ(decoded->record_size(), Bytes{1024 + 2'097'152 + 524'288});
}

TEST(BlockRecord, ComesBackAsAFirstBlockWithoutAWindow) {
  Header first = header();
  first.first = 0;
  first.parent = first.root;
  first.digest = digest_of(first.root, first.tokens);
  first.window = Bytes{};
  const auto decoded = decode(bytes_of(encode(first)));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(*decoded, first);
}

TEST(BlockRecord, ComesBackAsAPart) {
  for (const std::size_t size : {std::size_t{1}, kLeastPart, kBlockTokens - 1}) {
    Header part = header();
    part.tokens.resize(size);
    part.digest = digest_of(part.parent, part.tokens);
    const auto decoded = decode(bytes_of(encode(part)));
    ASSERT_TRUE(decoded) << decoded.error().message();
    EXPECT_EQ(*decoded, part);
    part.digest = header().digest;
    EXPECT_EQ(reason_of(encode(part)), "digest") << "of the whole block";
  }
}

class Flipped : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Flipped, AnyBitIsRefused) {
  Header record_of = header();
  record_of.tokens.resize(GetParam());
  record_of.digest = digest_of(record_of.parent, record_of.tokens);
  const std::string sound = encode(record_of);
  for (std::size_t bit = 0; bit < 8 * kHeaderSize; ++bit) {
    std::string record = sound;
    record[bit / 8] = static_cast<char>(record[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_NE(reason_of(record), "sound") << "bit " << bit;
  }
}

INSTANTIATE_TEST_SUITE_P(BlockRecord, Flipped, ::testing::Values(kBlockTokens, 20));

TEST(BlockRecord, IsRefusedAtAnyOtherLength) {
  const std::string sound = encode(header());
  for (std::size_t size = 0; size < kHeaderSize; ++size) {
    ASSERT_EQ(reason_of(sound.substr(0, size)), "short") << size;
  }
  EXPECT_NE(reason_of(sound + "x"), "sound");
}

struct RefusedCase {
  const char* name;
  void (*change)(Header&);
  const char* reason;
};
void PrintTo(const RefusedCase& c, std::ostream* out) { *out << c.name; }
class Refused : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(Refused, SaysWhy) {
  Header changed = header();
  GetParam().change(changed);
  EXPECT_EQ(reason_of(encode(changed)), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    BlockRecord, Refused,
    ::testing::Values(
        RefusedCase{"OtherToken", [](Header& h) { h.tokens[7] += 1; }, "digest"},
        RefusedCase{"OtherParent", [](Header& h) { h.parent = h.root; }, "digest"},
        RefusedCase{"OtherDigest", [](Header& h) { h.digest[31] ^= 1; }, "digest"},
        RefusedCase{"NoTokens", [](Header& h) { h.tokens.clear(); }, "0 tokens"},
        RefusedCase{"TooManyTokens", [](Header& h) { h.tokens.push_back(1); }, "65 tokens"},
        RefusedCase{"InsideABlock", [](Header& h) { h.first = 65; }, "position 65"},
        RefusedCase{"HugeBase", [](Header& h) { h.base = Bytes{~std::uint64_t{0}}; }, "size"},
        RefusedCase{"HugeWindow", [](Header& h) { h.window = Bytes{~std::uint64_t{0}}; }, "size"}),
    [](const auto& test) { return test.param.name; });

TEST(BlockRecord, IsRefusedFromAnotherVersion) {
  std::string record = encode(header());
  record[8] = 7;
  EXPECT_EQ(reason_of(sealed(record)), "version 7");
}

TEST(BlockRecord, IsNoForeignFile) {
  EXPECT_EQ(reason_of(std::string(kHeaderSize, '\0')), "no record");
  EXPECT_EQ(reason_of("GGUF" + std::string(kHeaderSize - 4, 'x')), "no record");
  Random random{1};
  for (int i = 0; i < 1000; ++i) {
    std::string noise = "HearthKV";
    while (noise.size() < kHeaderSize) noise += static_cast<char>(random.next());
    ASSERT_NE(reason_of(noise), "sound");
    ASSERT_NE(reason_of(sealed(noise)), "sound");
  }
}

TEST(BlockRecord, HasAChecksumThatTellsOfEachBitOfAState) {
  std::string state(4096, 's');
  const std::uint64_t sound = checksum_of(bytes_of(state));
  for (std::size_t bit = 0; bit < 8 * state.size(); ++bit) {
    state[bit / 8] = static_cast<char>(state[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_NE(checksum_of(bytes_of(state)), sound) << bit;
    state[bit / 8] = static_cast<char>(state[bit / 8] ^ (1 << (bit % 8)));
  }
}

}  // namespace
}  // namespace hearth::blocks
