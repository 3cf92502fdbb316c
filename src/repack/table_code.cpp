// SPDX-License-Identifier: Apache-2.0
#include "repack/table_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::repack {
namespace {

constexpr std::string_view kMagic{"HEARTH\x01R", 8};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kChecksumAt = 32;
constexpr int kMaxShards = 4096;
// Lengths and numbers of an entry with an empty name.
constexpr std::size_t kSmallestEntry = 4 + 4 + 5 * 8;

template <class T>
void put(std::vector<std::byte>& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
}

void put_text(std::vector<std::byte>& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  const auto bytes = std::as_bytes(std::span{text});
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Takes values off the front. Once something was missing all that follows is empty.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_{bytes} {}

  template <class T>
  T number() {
    std::uint64_t value = 0;
    const auto bytes = take(sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return static_cast<T>(value);
  }
  std::string text() {
    const auto bytes = take(number<std::uint32_t>());
    std::string read;
    for (const std::byte each : bytes) read.push_back(static_cast<char>(each));
    return read;
  }
  std::size_t left() const { return left_.size(); }
  bool whole() const { return whole_; }

 private:
  std::span<const std::byte> take(std::size_t count) {
    if (!whole_ || count > left_.size()) {
      whole_ = false;
      return {};
    }
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }

  std::span<const std::byte> left_;
  bool whole_ = true;
};

std::uint64_t checksum_over(std::span<const std::byte> bytes) {
  std::vector<std::byte> covered;
  covered.reserve(bytes.size());
  const auto before = bytes.first(kChecksumAt);
  const auto after = bytes.subspan(kHeadSize);
  covered.insert(covered.end(), before.begin(), before.end());
  covered.insert(covered.end(), after.begin(), after.end());
  return checksum_of(covered);
}

Failed corrupt(std::string why) { return fail(ErrorCode::kCorrupt, std::move(why)); }

Entry read_entry(Reader& reader) {
  Entry entry;
  entry.name = reader.text();
  entry.shard = static_cast<int>(reader.number<std::uint32_t>());
  entry.source_offset = reader.number<std::uint64_t>();
  entry.source_size = Bytes{reader.number<std::uint64_t>()};
  entry.offset = reader.number<std::uint64_t>();
  entry.size = Bytes{reader.number<std::uint64_t>()};
  entry.checksum = reader.number<std::uint64_t>();
  return entry;
}

bool overflows(std::uint64_t offset, Bytes size) {
  return size.count() > std::numeric_limits<std::uint64_t>::max() - offset;
}

// In the order of the file, apart from each other, and up to its end.
Result<> check_places(const Table& table) {
  std::uint64_t end = first_offset(table);
  for (const Entry& entry : table.entries) {
    const bool placed = entry.offset >= end && entry.offset % kAlignment == 0;
    if (!placed || overflows(entry.offset, entry.size) || entry.size == Bytes{}) {
      return corrupt(fmt::format("entry {} lies where it cannot", entry.name));
    }
    end = entry.offset + entry.size.count();
  }
  if (Bytes{end} != table.file_size) return corrupt("the entries do not fill the file");
  return {};
}

Result<> check_sources(const Table& table) {
  std::vector<const Entry*> sources;
  for (const Entry& entry : table.entries) {
    if (entry.shard < 0 || entry.shard >= kMaxShards ||
        overflows(entry.source_offset, entry.source_size)) {
      return corrupt(fmt::format("entry {} comes from nowhere", entry.name));
    }
    if (entry.source_size > Bytes{}) sources.push_back(&entry);
  }
  const auto place = [](const Entry* entry) {
    return std::pair{entry->shard, entry->source_offset};
  };
  std::sort(sources.begin(), sources.end(),
            [&](const Entry* a, const Entry* b) { return place(a) < place(b); });
  for (std::size_t i = 1; i < sources.size(); ++i) {
    const Entry& before = *sources[i - 1];
    const bool apart =
        before.shard != sources[i]->shard ||
        before.source_offset + before.source_size.count() <= sources[i]->source_offset;
    if (!apart)
      return corrupt(fmt::format("{} replaces what {} does", sources[i]->name, before.name));
  }
  return {};
}

}  // namespace

std::vector<std::byte> encode(const Table& table) {
  std::vector<std::byte> out;
  const auto magic = std::as_bytes(std::span{kMagic});
  out.insert(out.end(), magic.begin(), magic.end());
  put(out, kVersion);
  put(out, std::uint32_t{0});
  put(out, table.file_size.count());
  out.resize(kHeadSize);
  for (const std::string* part : {&table.key.content, &table.key.engine, &table.key.driver,
                                  &table.key.hardware, &table.key.layout}) {
    put_text(out, *part);
  }
  put(out, static_cast<std::uint32_t>(table.entries.size()));
  for (const Entry& entry : table.entries) {
    put_text(out, entry.name);
    put(out, static_cast<std::uint32_t>(entry.shard));
    put(out, entry.source_offset);
    put(out, entry.source_size.count());
    put(out, entry.offset);
    put(out, entry.size.count());
    put(out, entry.checksum);
  }
  std::vector<std::byte> sizes;
  put(sizes, static_cast<std::uint64_t>(out.size() - kHeadSize));
  std::copy(sizes.begin(), sizes.end(), out.begin() + 24);
  sizes.clear();
  put(sizes, checksum_over(out));
  std::copy(sizes.begin(), sizes.end(), out.begin() + kChecksumAt);
  return out;
}

Result<Head> decode_head(std::span<const std::byte> bytes, Bytes actual) {
  const auto magic = std::as_bytes(std::span{kMagic});
  if (bytes.size() != kHeadSize || !std::equal(magic.begin(), magic.end(), bytes.begin())) {
    return corrupt("it is no finished stored repack");
  }
  Reader reader{bytes.subspan(kMagic.size())};
  const auto version = reader.number<std::uint32_t>();
  if (version != kVersion || reader.number<std::uint32_t>() != 0) {
    return corrupt(fmt::format("its format is another one ({})", version));
  }
  Head head;
  head.file_size = Bytes{reader.number<std::uint64_t>()};
  const auto table_bytes = reader.number<std::uint64_t>();
  head.checksum = reader.number<std::uint64_t>();
  if (head.file_size != actual) {
    return corrupt(fmt::format("it has {} bytes where it should have {}", actual.count(),
                               head.file_size.count()));
  }
  if (table_bytes > kMaxTableBytes || Bytes{table_bytes} + Bytes{kHeadSize} > actual) {
    return corrupt("its table is longer than can be");
  }
  head.table_bytes = static_cast<std::size_t>(table_bytes);
  return head;
}

Result<Table> decode_table(const Head& head, std::span<const std::byte> bytes) {
  if (bytes.size() != kHeadSize + head.table_bytes || checksum_over(bytes) != head.checksum) {
    return corrupt("its table fails its checksum");
  }
  Reader reader{bytes.subspan(kHeadSize)};
  Table table;
  table.file_size = head.file_size;
  for (std::string* part : {&table.key.content, &table.key.engine, &table.key.driver,
                            &table.key.hardware, &table.key.layout}) {
    *part = reader.text();
  }
  const auto count = reader.number<std::uint32_t>();
  if (count == 0 || count > reader.left() / kSmallestEntry) {
    return corrupt("its table has another number of entries");
  }
  table.entries.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) table.entries.push_back(read_entry(reader));
  if (!reader.whole() || reader.left() > 0) return corrupt("its table has another length");
  if (const Result<> places = check_places(table); !places) return Failed{places.error()};
  if (const Result<> sources = check_sources(table); !sources) return Failed{sources.error()};
  return table;
}

std::uint64_t first_offset(const Table& table) {
  const Key& key = table.key;
  std::uint64_t end = kHeadSize + 6 * 4 + key.content.size() + key.engine.size() +
                      key.driver.size() + key.hardware.size() + key.layout.size();
  for (const Entry& entry : table.entries) end += kSmallestEntry + entry.name.size();
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace hearth::repack
