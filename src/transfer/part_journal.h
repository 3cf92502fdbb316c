// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"
#include "base/sha256.h"

namespace hearth::transfer {

inline constexpr Bytes kPartSize{4 << 20};

// A file beyond this is refused, so that a lie about a size does not cost memory.
inline constexpr Bytes kLargestFile{std::uint64_t{4} << 40};

// What a partial download is a download of.
struct ContentIdentity {
  std::optional<Bytes> size;       // nothing: not known yet
  std::optional<Digest> promised;  // SHA-256 of the whole, by whoever listed the file
  // The server's word for this version: its ETag as sent, else its Last-Modified; empty: none, or
  // one longer than kLongestValidator.
  std::string validator;

  friend bool operator==(const ContentIdentity&, const ContentIdentity&) = default;
};

inline constexpr std::size_t kLongestValidator = 256;

struct JournalHeader {
  ContentIdentity identity;
  Bytes part_size = kPartSize;
  std::string
      boot;  // id of the system's run that fills without a digest belong to, at most 64 bytes
  // Ties records to this header: those written under another one count as empty.
  std::uint64_t salt = 0;
};

// What is known of one part. A part that is full and has a digest was hashed once; whether its
// bytes are still the same is found out when it is hashed again. One that has a digest and is not
// full was lost, and should have that digest once more.
struct PartRecord {
  std::uint32_t filled = 0;  // bytes from its beginning
  std::optional<Digest> digest;

  friend bool operator==(const PartRecord&, const PartRecord&) = default;
};

// The journal beside the data of a partial download: a header of 512 bytes, then 64 bytes a part,
// all little-endian, each with a checksum of its own. It only says what is worth looking at;
// whether a file is right is decided by its SHA-256 alone.
struct Journal {
  JournalHeader header;
  std::vector<PartRecord> parts;  // as many as were ever written to; torn ones are empty

  // Of parts that are full or filling.
  Bytes arrived() const;
};

// Errors: kCorrupt, when there is no whole header (an empty file, too); kUnavailable.
Result<Journal> read_journal(const Files& files, const Fd& file);

// The identity and what has arrived, for lists. Same errors; kNotFound.
Result<Journal> peek_journal(const Files& files, const std::string& path);

// `salt` is the header's. Errors of both: kNoSpace, kUnavailable. Neither waits for the device.
Result<> write_header(const Files& files, const Fd& file, const JournalHeader& header);
Result<> write_record(const Files& files, const Fd& file, std::uint64_t salt, std::uint64_t part,
                      const PartRecord& record);

// The room that a journal of so many parts takes.
Bytes journal_size(std::uint64_t parts);

// Begins `file` anew under a salt that no record in it has. Returns the header as written.
Result<JournalHeader> begin_journal(const Files& files, const Fd& file, JournalHeader header);

// Of 64 hexadecimal digits; nothing for any other text.
std::optional<Digest> digest_of_hex(std::string_view hex);

}  // namespace hearth::transfer
