// SPDX-License-Identifier: Apache-2.0
#include "transfer/part_digests.h"

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "transfer/little_endian.h"

namespace hearth::transfer {
namespace {

constexpr std::string_view kMagic = "HearthPD";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderSize = 64;
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kPartSizeAt = 12;
constexpr std::size_t kSizeAt = 16;
constexpr std::size_t kWholeAt = 24;
constexpr std::size_t kSumAt = 56;
constexpr std::size_t kDigestSize = 32;

std::uint64_t parts_of(Bytes size, Bytes part) {
  return (size.count() + part.count() - 1) / part.count();
}

// Of everything but itself.
std::uint64_t sum_of(std::span<const std::byte> bytes) {
  return short_digest(Sha256{}.add(bytes.first(kSumAt)).add(bytes.subspan(kHeaderSize)).finish());
}

Failed torn() { return fail(ErrorCode::kCorrupt, "digests of parts: torn, or of another format"); }

}  // namespace

Result<PartDigests> digests_of_journal(const Files& files, const Fd& journal, const Digest& whole) {
  Result<Journal> read = read_journal(files, journal);
  if (!read) return Failed{std::move(read).error()};
  const JournalHeader& header = read->header;
  const Bytes size = header.identity.size.value_or(Bytes{});
  if (!header.identity.size || read->parts.size() != parts_of(size, header.part_size) ||
      read->arrived() != size) {
    return fail(ErrorCode::kCorrupt, "journal: the download is not complete");
  }
  PartDigests digests{size, whole, header.part_size, {}};
  for (const PartRecord& part : read->parts) {
    if (!part.digest) return fail(ErrorCode::kCorrupt, "journal: a part was never hashed");
    digests.parts.push_back(*part.digest);
  }
  return digests;
}

Result<> write_part_digests(const Files& files, const Fd& file, const PartDigests& digests) {
  std::vector<std::byte> bytes(kHeaderSize + digests.parts.size() * kDigestSize);
  put_text(bytes, 0, kMagic);
  put(bytes, kVersionAt, kVersion);
  put(bytes, kPartSizeAt, static_cast<std::uint32_t>(digests.part_size.count()));
  put(bytes, kSizeAt, digests.size.count());
  put_digest(bytes, kWholeAt, digests.whole);
  for (std::size_t i = 0; i < digests.parts.size(); ++i) {
    put_digest(bytes, kHeaderSize + i * kDigestSize, digests.parts[i]);
  }
  put(bytes, kSumAt, sum_of(bytes));
  Result<> done = files.resize(file, Bytes{});
  if (done) done = files.write_at(file, 0, bytes);
  if (!done) return Failed{std::move(done).error().during("digests of parts")};
  return {};
}

Result<PartDigests> read_part_digests(const Files& files, const Fd& file) {
  std::vector<std::byte> bytes(kHeaderSize);
  Result<std::size_t> read = files.read_at(file, 0, bytes);
  if (!read) return Failed{std::move(read).error().during("digests of parts")};
  if (*read != kHeaderSize) return torn();
  PartDigests digests;
  digests.size = Bytes{get<std::uint64_t>(bytes, kSizeAt)};
  digests.part_size = Bytes{get<std::uint32_t>(bytes, kPartSizeAt)};
  digests.whole = get_digest(bytes, kWholeAt);
  if (digests.part_size == Bytes{} || digests.size > kLargestFile) return torn();

  const Result<FileInfo> info = files.info(file);
  if (!info) return Failed{Error{info.error()}.during("digests of parts")};
  const std::uint64_t count = parts_of(digests.size, digests.part_size);
  if (info->size.count() != kHeaderSize + count * kDigestSize) return torn();
  bytes.resize(kHeaderSize + count * kDigestSize);
  read = files.read_at(file, 0, bytes);
  if (!read) return Failed{std::move(read).error().during("digests of parts")};
  std::string_view magic{reinterpret_cast<const char*>(bytes.data()), kMagic.size()};
  if (*read != bytes.size() || magic != kMagic ||
      get<std::uint32_t>(bytes, kVersionAt) != kVersion ||
      get<std::uint64_t>(bytes, kSumAt) != sum_of(bytes)) {
    return torn();
  }
  for (std::size_t i = 0; i < count; ++i) {
    digests.parts.push_back(get_digest(bytes, kHeaderSize + i * kDigestSize));
  }
  return digests;
}

Result<> write_repair_journal(const Files& files, const Fd& journal, const PartDigests& digests) {
  JournalHeader header;
  header.identity.size = digests.size;
  header.identity.promised = digests.whole;
  header.part_size = digests.part_size;
  Result<JournalHeader> begun = begin_journal(files, journal, std::move(header));
  if (!begun) return Failed{std::move(begun).error()};
  std::uint64_t left = digests.size.count();
  for (std::size_t i = 0; i < digests.parts.size(); ++i) {
    const std::uint64_t length = std::min(left, digests.part_size.count());
    const PartRecord record{static_cast<std::uint32_t>(length), digests.parts[i]};
    Result<> written = write_record(files, journal, begun->salt, i, record);
    if (!written) return Failed{std::move(written).error()};
    left -= length;
  }
  return {};
}

}  // namespace hearth::transfer
