// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"

namespace hearth::repack {

// What the bytes of a stored repack were computed from. All of it must be the same for them to be
// used; each part is told apart, so that a refusal can name what changed.
struct Key {
  std::string content;   // SHA-256 over the model's files
  std::string engine;    // the engine's libraries
  std::string driver;    // of the GPUs; empty without one
  std::string hardware;  // the CPU's features
  std::string layout;    // which tensors are repacked, how

  friend bool operator==(const Key&, const Key&) = default;
};

// One tensor in repacked form, and which bytes of the model it replaces: these are not touched by a
// load that uses it.
struct Entry {
  std::string name;
  int shard = 0;                    // index of the model's file
  std::uint64_t source_offset = 0;  // in that file
  Bytes source_size;                // zero: it replaces nothing, as the model's bytes are used too
  std::uint64_t offset = 0;         // in the stored file, a multiple of kAlignment
  Bytes size;
  std::uint64_t checksum = 0;  // of its bytes

  friend bool operator==(const Entry&, const Entry&) = default;
};

inline constexpr std::uint64_t kAlignment = 4096;

// The beginning of a stored file.
struct Table {
  Key key;
  std::vector<Entry> entries;  // in the order of the file, which is that of first touch
  Bytes file_size;
};

// Of an entry's bytes. Fast enough to be computed beside a read from any disk; against accidents,
// not against forgers: the files are ours alone.
std::uint64_t checksum_of(std::span<const std::byte> bytes);

// Reads and checks the table: its own checksum, that entries lie within the file in order and do
// not overlap, neither there nor in what they replace, and that the file has the size it says. The
// entries' bytes are not read. Blocks.
// Errors: kCorrupt, with the reason; kUnavailable.
Result<Table> read_table(const Files& files, const Fd& file);

// The first part of the key that differs: "model", "engine", "driver", "hardware", "layout"; empty
// when none does.
std::string_view difference(const Key& stored, const Key& wanted);

// Writes a stored file from its beginning to its end. Until finish() has returned well the file is
// none: read_table() refuses it. Belongs to one thread. Blocks.
class Writer {
 public:
  // `file` is empty and open for writing, and outlives the writer. Of `entries` offset and checksum
  // are not looked at. Takes the file's room on the device. Errors: kNoSpace, kUnavailable;
  // kInternal (no entries, an empty one, or two that replace the same).
  static Result<Writer> begin(const Files& files, const Fd& file, Key key,
                              std::vector<Entry> entries);

  // The bytes of entry `index`, of exactly its size. Any order, each once. Errors: as above.
  Result<> add(std::size_t index, std::span<const std::byte> bytes);

  // Syncs the data, then writes the table, and syncs again. Every entry must have been added.
  // Returns the file's size. Errors: as above.
  Result<Bytes> finish();

 private:
  Writer(const Files& files, const Fd& file, Table table)
      : files_{&files},
        file_{&file},
        table_{std::move(table)},
        added_(table_.entries.size(), false) {}

  const Files* files_;
  const Fd* file_;
  Table table_;
  std::vector<bool> added_;
};

}  // namespace hearth::repack
