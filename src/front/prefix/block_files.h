// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "blocks/block_record.h"
#include "front/prefix/block_domain.h"

namespace hearth::front {

// Records on disk: <directory>/<root>/<digest>.kv, and beside them in each root's directory a
// domain.json that says what they belong to, from which an index can be made anew. All with mode
// 0600 in directories of 0700. Written under another name, synced and renamed, so that a name
// always stands for a whole record.
//
// Thread-safe; every call blocks.
class BlockFiles {
 public:
  BlockFiles(const Files& files, std::string directory)
      : files_{&files}, directory_{std::move(directory)} {}

  // The installation's, in a file of its own; made when there is none. Errors: kNoSpace,
  // kUnavailable, kCorrupt (it is not of our making).
  Result<std::string> secret() const;

  struct Found {
    Digest root{};
    Digest digest{};
    Bytes size;
    std::int64_t used_us = 0;
  };
  struct Sweep {
    std::vector<BlockDomain> domains;
    std::vector<Found> records;                    // of these domains, unread
    std::map<std::string, std::uint64_t> refused;  // what was deleted, by reason
  };
  // What there is. Deletes what a crash left half written, and directories that belong to no domain
  // of this secret.
  Sweep sweep(const std::string& secret) const;

  // Errors: kCorrupt (with the reason: it is not the record that its name says), kNotFound,
  // kUnavailable.
  Result<blocks::Header> header(const Found& record) const;

  // Before the first record of a domain. Errors: kNoSpace, kUnavailable.
  Result<> begin(const BlockDomain& domain) const;
  // `record` must be whole, with that digest. Errors: kCorrupt (it is not: nothing was written),
  // kNoSpace, kUnavailable; what was there before is still there then.
  Result<> save(const Digest& root, const Digest& digest, std::span<const std::byte> record) const;
  // Makes what was saved survive a power cut under its name.
  Result<> sync(const Digest& root) const;

  // For reading; its bytes are asked for from the device. Errors: kNotFound, kCorrupt (of another
  // size), kUnavailable.
  Result<Fd> open(const Digest& root, const Digest& digest, Bytes size) const;
  Result<> remove(const Digest& root, const Digest& digest) const;
  // A root's directory, if no record is left in it.
  void remove_empty(const Digest& root) const;
  void note_use(const Digest& root, const Digest& digest, std::int64_t used_us) const;

 private:
  std::string root_path(const Digest& root) const { return directory_ + "/" + hex_of(root); }
  std::string path_of(const Digest& root, const Digest& digest) const;
  Result<> write_whole(const std::string& path, std::span<const std::byte> bytes) const;
  Result<BlockDomain> read_domain(const Digest& root, const std::string& secret) const;
  void sweep_root(const Digest& root, Sweep& sweep) const;
  void clear(const Digest& root) const;

  const Files* files_;
  std::string directory_;
};

// Whether `record` is that block's, whole. Errors: kCorrupt, with the reason.
Result<> check_record(std::span<const std::byte> record, const Digest& root, const Digest& digest);

}  // namespace hearth::front
