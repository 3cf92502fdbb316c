// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/sha256.h"
#include "transfer/part_journal.h"

namespace hearth::transfer {

// Everything but `connections` in whole parts.
struct Geometry {
  Bytes part = kPartSize;
  Bytes segment{16 << 20};  // most that one range asks for
  Bytes window{64 << 20};   // most that is asked for beyond what has been hashed
  Bytes cached{16 << 20};   // what stays in the page cache behind the hash
  int connections = 4;      // for ranges that end together
};

// Which parts of a download are here, on their way and hashed, and in which order all that goes on.
// No I/O, and not thread-safe.
//
// The first look goes over the file once, hashing parts in order as they come. When the whole is
// not what was promised, another look begins: parts are opened again in order, and compared with
// what they were before; after a change the whole is hashed once more. While that goes on no
// further part is opened, so that nothing changes behind the hash.
class PartTable {
 public:
  enum class Mode {
    kHash,     // over the whole
    kCompare,  // with what came before
    kDone,     // nothing is asked for any more
  };
  struct Run {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  // The part the hash is to look at.
  struct Turn {
    std::size_t part = 0;
    std::size_t length = 0;
    Mode mode = Mode::kHash;
    std::optional<Digest> expected;
    bool fresh = false;  // all of it came since reset(), and was not hashed yet
  };
  enum class Next {
    kParts,   // go on
    kFailed,  // looking again has not helped
  };

  explicit PartTable(const Geometry& geometry) : geometry_{geometry} {}

  void reset(std::optional<Bytes> size, const std::vector<PartRecord>& parts);
  void set_size(Bytes size);

  const std::optional<Bytes>& size() const { return size_; }
  Bytes arrived() const { return arrived_; }
  Bytes hashed() const;
  Mode mode() const { return mode_; }
  int look() const { return look_; }
  bool nothing_missing() const { return size_ && arrived_ == *size_; }

  std::size_t part_at(std::uint64_t position) const { return position / geometry_.part.count(); }
  std::uint64_t begin_of(std::size_t part) const { return part * geometry_.part.count(); }
  std::size_t length_of(std::size_t part) const;
  bool full(std::size_t part) const;
  std::size_t parts() const { return parts_.size(); }
  PartRecord record(std::size_t part) const;

  // ---- ranges ----
  // The next run to ask for, now on its way; nothing when none is missing, or the window is full.
  std::optional<Run> take();
  // What did not come of [position, end).
  void give_back(std::uint64_t position, std::uint64_t end);
  void give_back_all();
  void fill(std::size_t part, std::size_t bytes);

  // ---- a stream that passes everything from the beginning ----
  bool wants_stream() const;
  // Before the bytes at `part`: opens it again where this look is about to, makes room in the table
  // while the size is unknown, and counts it to the window.
  void enter(std::size_t part);
  // The hash waits for something that lies before `part`.
  bool blocked_before(std::size_t part) const;
  // The window is full, and the hash will move on without `part`.
  bool too_far_at(std::size_t part) const;
  // Passing `part` now would leave it out of this look.
  bool too_early_for(std::size_t part) const;

  // ---- the hash ----
  std::optional<Turn> turn() const;  // nothing when it is not there yet, or at_end()
  bool at_end() const { return size_ && cursor() == parts_.size(); }
  void passed(const Turn& turn, const Digest& digest);
  void lost(const Turn& turn);
  void done() { mode_ = Mode::kDone; }
  // After at_end(), when the whole was not right.
  Next look_again();

 private:
  struct Part {
    std::uint32_t filled = 0;
    bool asked = false;
    bool ahead = false;  // counted in ahead_
    bool fresh = false;
    std::optional<Digest> digest;
  };

  std::size_t cursor() const { return mode_ == Mode::kCompare ? compare_ : hash_; }
  bool may_ask(std::size_t part) const;
  std::optional<std::size_t> first_to_ask();
  bool follows(std::size_t part) const;
  void ask(std::size_t part);
  void set_filled(Part& part, std::uint32_t filled);
  std::uint64_t segment_at(std::size_t part) const;
  void begin_hash();

  Geometry geometry_;
  std::optional<Bytes> size_;
  std::vector<Part> parts_;
  Bytes arrived_;
  Bytes ahead_;             // asked for and not hashed yet
  std::size_t search_ = 0;  // no part before it is missing and not asked for

  Mode mode_ = Mode::kHash;
  std::size_t hash_ = 0;  // parts before it are in the hash of the whole
  int look_ = 1;
  std::size_t compare_ = 0;  // parts before it were compared in this look
  std::size_t opened_ = 0;   // parts before it were opened again in this look
  bool changed_ = false;     // something, in this look
  bool to_hash_ = false;     // something changed since the whole was hashed
  int hashes_ = 0;           // of the whole, in this look
};

}  // namespace hearth::transfer
