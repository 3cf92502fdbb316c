// SPDX-License-Identifier: Apache-2.0
#include "repack/repack_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "repack/table_code.h"

namespace hearth::repack {
namespace {

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Result<Table> read_table(const Files& files, const Fd& file) {
  const Result<FileInfo> info = files.info(file);
  if (!info) return Failed{info.error()};
  std::vector<std::byte> bytes(kHeadSize);
  Result<std::size_t> got = files.read_at(file, 0, bytes);
  if (!got) return Failed{got.error()};
  const Result<Head> head = decode_head(std::span{bytes}.first(*got), info->size);
  if (!head) return Failed{head.error()};
  bytes.resize(kHeadSize + head->table_bytes);
  got = files.read_at(file, kHeadSize, std::span{bytes}.subspan(kHeadSize));
  if (!got) return Failed{got.error()};
  return decode_table(*head, std::span{bytes}.first(kHeadSize + *got));
}

std::string_view difference(const Key& stored, const Key& wanted) {
  if (stored.content != wanted.content) return "model";
  if (stored.engine != wanted.engine) return "engine";
  if (stored.driver != wanted.driver) return "driver";
  if (stored.hardware != wanted.hardware) return "hardware";
  if (stored.layout != wanted.layout) return "layout";
  return {};
}

Result<Writer> Writer::begin(const Files& files, const Fd& file, Key key,
                             std::vector<Entry> entries) {
  if (entries.empty()) return fail(ErrorCode::kInternal, "a stored repack without entries");
  Table table{std::move(key), std::move(entries), {}};
  std::uint64_t end = first_offset(table);
  for (Entry& entry : table.entries) {
    entry.offset = aligned(end);
    entry.checksum = 0;
    end = entry.offset + entry.size.count();
  }
  table.file_size = Bytes{end};
  // The same rules as for reading: what would be refused later is not written at all.
  const std::vector<std::byte> code = encode(table);
  const Result<Head> head = decode_head(std::span{code}.first(kHeadSize), table.file_size);
  if (!head) return fail(ErrorCode::kInternal, "write a stored repack: " + head.error().message());
  if (const Result<Table> again = decode_table(*head, code); !again) {
    return fail(ErrorCode::kInternal, "write a stored repack: " + again.error().message());
  }
  if (Result<> room = files.allocate(file, table.file_size); !room) return Failed{room.error()};
  if (Result<> sized = files.resize(file, table.file_size); !sized) return Failed{sized.error()};
  return Writer{files, file, std::move(table)};
}

Result<> Writer::add(std::size_t index, std::span<const std::byte> bytes) {
  if (index >= table_.entries.size() || Bytes{bytes.size()} != table_.entries[index].size ||
      added_[index]) {
    return fail(ErrorCode::kInternal,
                fmt::format("entry {} of a stored repack is not this", index));
  }
  Entry& entry = table_.entries[index];
  entry.checksum = checksum_of(bytes);
  if (Result<> written = files_->write_at(*file_, entry.offset, bytes); !written) return written;
  files_->start_write_back(*file_, entry.offset, entry.size);
  added_[index] = true;
  return {};
}

Result<Bytes> Writer::finish() {
  if (std::find(added_.begin(), added_.end(), false) != added_.end()) {
    return fail(ErrorCode::kInternal, "a stored repack is not complete");
  }
  if (const Result<> synced = files_->sync(*file_); !synced) return Failed{synced.error()};
  const std::vector<std::byte> code = encode(table_);
  if (const Result<> written = files_->write_at(*file_, 0, code); !written) {
    return Failed{written.error()};
  }
  if (const Result<> synced = files_->sync(*file_); !synced) return Failed{synced.error()};
  return table_.file_size;
}

}  // namespace hearth::repack
