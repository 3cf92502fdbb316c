// SPDX-License-Identifier: Apache-2.0
#include "transfer/part_journal.h"

#include <array>
#include <span>
#include <utility>

#include "transfer/little_endian.h"

namespace hearth::transfer {
namespace {

constexpr std::string_view kMagic = "HearthPJ";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderSize = 512;
constexpr std::size_t kRecordSize = 64;
constexpr std::size_t kLongestBoot = 64;

// Where things are in a header.
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kFlagsAt = 12;
constexpr std::size_t kPartSizeAt = 16;
constexpr std::size_t kSizeAt = 24;
constexpr std::size_t kPromisedAt = 32;
constexpr std::size_t kSaltAt = 64;
constexpr std::size_t kValidatorLengthAt = 72;
constexpr std::size_t kBootLengthAt = 74;
constexpr std::size_t kValidatorAt = 80;
constexpr std::size_t kBootAt = kValidatorAt + kLongestValidator;
constexpr std::size_t kHeaderSumAt = kHeaderSize - 8;

constexpr std::uint32_t kHasSize = 1;
constexpr std::uint32_t kHasPromise = 2;

// And in a record.
constexpr std::size_t kRecordFlagsAt = 4;
constexpr std::size_t kDigestAt = 8;
constexpr std::size_t kRecordSumAt = kRecordSize - 8;

constexpr std::uint32_t kHasDigest = 1;
constexpr std::uint32_t kWritten = 2;

using HeaderBlock = std::array<std::byte, kHeaderSize>;
using RecordBlock = std::array<std::byte, kRecordSize>;

std::uint64_t sum_of(std::span<const std::byte> block) {
  return short_digest(Sha256{}.add(block).finish());
}

HeaderBlock encode(const JournalHeader& header) {
  HeaderBlock block{};
  const ContentIdentity& identity = header.identity;
  const std::string_view validator = identity.validator.size() <= kLongestValidator
                                         ? std::string_view{identity.validator}
                                         : std::string_view{};
  const std::string_view boot = std::string_view{header.boot}.substr(0, kLongestBoot);
  put_text(block, 0, kMagic);
  put(block, kVersionAt, kVersion);
  put(block, kFlagsAt, (identity.size ? kHasSize : 0) | (identity.promised ? kHasPromise : 0));
  put(block, kPartSizeAt, header.part_size.count());
  put(block, kSizeAt, identity.size.value_or(Bytes{}).count());
  put_digest(block, kPromisedAt, identity.promised.value_or(Digest{}));
  put(block, kSaltAt, header.salt);
  put(block, kValidatorLengthAt, static_cast<std::uint16_t>(validator.size()));
  put(block, kBootLengthAt, static_cast<std::uint16_t>(boot.size()));
  put_text(block, kValidatorAt, validator);
  put_text(block, kBootAt, boot);
  put(block, kHeaderSumAt, sum_of(std::span{block}.first(kHeaderSumAt)));
  return block;
}

std::string text_at(std::span<const std::byte> block, std::size_t at, std::size_t length) {
  std::string text(length, '\0');
  std::memcpy(text.data(), block.subspan(at, length).data(), length);
  return text;
}

std::optional<JournalHeader> decode_header(const HeaderBlock& block) {
  const auto checked = std::span{block}.first(kHeaderSumAt);
  if (text_at(block, 0, kMagic.size()) != kMagic) return std::nullopt;
  if (get<std::uint32_t>(block, kVersionAt) != kVersion) return std::nullopt;
  if (get<std::uint64_t>(block, kHeaderSumAt) != sum_of(checked)) return std::nullopt;
  const auto flags = get<std::uint32_t>(block, kFlagsAt);
  const auto validator = get<std::uint16_t>(block, kValidatorLengthAt);
  const auto boot = get<std::uint16_t>(block, kBootLengthAt);
  JournalHeader header;
  header.part_size = Bytes{get<std::uint64_t>(block, kPartSizeAt)};
  header.salt = get<std::uint64_t>(block, kSaltAt);
  const Bytes size{get<std::uint64_t>(block, kSizeAt)};
  if (validator > kLongestValidator || boot > kLongestBoot) return std::nullopt;
  if (header.part_size == Bytes{} || header.part_size > kLargestFile) return std::nullopt;
  if (size > kLargestFile) return std::nullopt;
  if ((flags & kHasSize) != 0) header.identity.size = size;
  if ((flags & kHasPromise) != 0) header.identity.promised = get_digest(block, kPromisedAt);
  header.identity.validator = text_at(block, kValidatorAt, validator);
  header.boot = text_at(block, kBootAt, boot);
  return header;
}

std::uint64_t record_sum(std::uint64_t salt, std::uint64_t part,
                         std::span<const std::byte> record) {
  std::array<std::byte, 16> place;
  put(place, 0, salt);
  put(place, 8, part);
  return short_digest(Sha256{}.add(place).add(record.first(kRecordSumAt)).finish());
}

// Empty for one that is torn, of another header, or not possible.
PartRecord decode_record(const JournalHeader& header, std::uint64_t part,
                         std::span<const std::byte> block) {
  const auto flags = get<std::uint32_t>(block, kRecordFlagsAt);
  if ((flags & kWritten) == 0) return {};
  if (get<std::uint64_t>(block, kRecordSumAt) != record_sum(header.salt, part, block)) return {};
  PartRecord record;
  record.filled = get<std::uint32_t>(block, 0);
  if (Bytes{record.filled} > header.part_size) return {};
  if ((flags & kHasDigest) != 0) record.digest = get_digest(block, kDigestAt);
  return record;
}

std::size_t most_parts(const JournalHeader& header) {
  const std::uint64_t size = header.identity.size.value_or(kLargestFile).count();
  const std::uint64_t part = header.part_size.count();
  return static_cast<std::size_t>((size + part - 1) / part);
}

Result<std::vector<PartRecord>> read_records(const Files& files, const Fd& file,
                                             const JournalHeader& header) {
  constexpr std::size_t kAtOnce = 1024;
  std::vector<std::byte> block(kAtOnce * kRecordSize);
  std::vector<PartRecord> parts;
  const std::size_t most = most_parts(header);
  while (parts.size() < most) {
    const Result<std::size_t> read =
        files.read_at(file, kHeaderSize + parts.size() * kRecordSize, block);
    if (!read) return Failed{read.error()};
    const std::size_t records = *read / kRecordSize;
    for (std::size_t i = 0; i < records && parts.size() < most; ++i) {
      const auto record = std::span<const std::byte>{block}.subspan(i * kRecordSize, kRecordSize);
      parts.push_back(decode_record(header, parts.size(), record));
    }
    if (records < kAtOnce) break;
  }
  return parts;
}

}  // namespace

Bytes Journal::arrived() const {
  Bytes sum;
  for (const PartRecord& part : parts) sum += Bytes{part.filled};
  return sum;
}

Result<Journal> read_journal(const Files& files, const Fd& file) {
  HeaderBlock block{};
  const Result<std::size_t> read = files.read_at(file, 0, block);
  if (!read) return Failed{Error{read.error()}.during("journal")};
  std::optional<JournalHeader> header;
  if (*read == kHeaderSize) header = decode_header(block);
  if (!header) return fail(ErrorCode::kCorrupt, "journal: it has no whole header");
  Result<std::vector<PartRecord>> parts = read_records(files, file, *header);
  if (!parts) return Failed{Error{parts.error()}.during("journal")};
  return Journal{std::move(*header), std::move(*parts)};
}

Result<Journal> peek_journal(const Files& files, const std::string& path) {
  const Result<Fd> file = files.open_read(path);
  if (!file) return Failed{file.error()};
  return read_journal(files, *file);
}

Result<> write_header(const Files& files, const Fd& file, const JournalHeader& header) {
  Result<> written = files.write_at(file, 0, encode(header));
  if (!written) return Failed{std::move(written).error().during("journal")};
  return {};
}

Bytes journal_size(std::uint64_t parts) { return Bytes{kHeaderSize + parts * kRecordSize}; }

Result<> write_record(const Files& files, const Fd& file, std::uint64_t salt, std::uint64_t part,
                      const PartRecord& record) {
  RecordBlock block{};
  put(block, 0, record.filled);
  put(block, kRecordFlagsAt, kWritten | (record.digest ? kHasDigest : 0));
  put_digest(block, kDigestAt, record.digest.value_or(Digest{}));
  put(block, kRecordSumAt, record_sum(salt, part, block));
  Result<> written = files.write_at(file, kHeaderSize + part * kRecordSize, block);
  if (!written) return Failed{std::move(written).error().during("journal")};
  return {};
}

Result<JournalHeader> begin_journal(const Files& files, const Fd& file, JournalHeader header) {
  HeaderBlock old{};
  const Result<std::size_t> read = files.read_at(file, 0, old);
  if (!read) return Failed{Error{read.error()}.during("journal")};
  // The old salt is part of it: a journal that comes back to an earlier identity has another one.
  header.salt = short_digest(Sha256{}.add(old).add(encode(header)).finish());
  Result<> done;
  if (*read > 0) done = files.resize(file, Bytes{});
  if (done) done = write_header(files, file, header);
  if (!done) return Failed{std::move(done).error()};
  return header;
}

std::optional<Digest> digest_of_hex(std::string_view hex) {
  Digest digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[i];
    const int nibble = c >= '0' && c <= '9'   ? c - '0'
                       : c >= 'a' && c <= 'f' ? c - 'a' + 10
                       : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                              : -1;
    if (nibble < 0) return std::nullopt;
    digest[i / 2] = static_cast<unsigned char>(digest[i / 2] << 4 | nibble);
  }
  return digest;
}

}  // namespace hearth::transfer
