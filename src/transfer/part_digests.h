// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"
#include "base/sha256.h"
#include "transfer/part_journal.h"

namespace hearth::transfer {

// The digests of an installed file's parts (the last one may be short): tells which parts of it
// have rotted, and lets a repair fetch those alone. As a file: a header of 64 bytes with a checksum
// over everything, then 32 bytes a part.
struct PartDigests {
  Bytes size;      // of the whole
  Digest whole{};  // its SHA-256
  Bytes part_size = kPartSize;
  std::vector<Digest> parts;

  friend bool operator==(const PartDigests&, const PartDigests&) = default;
};

// Of a finished download. Errors: kCorrupt, when some part has no digest or is not full; those of
// read_journal().
Result<PartDigests> digests_of_journal(const Files& files, const Fd& journal, const Digest& whole);

// Replaces what is in `file`; does not wait for the device. Errors: kNoSpace, kUnavailable.
Result<> write_part_digests(const Files& files, const Fd& file, const PartDigests& digests);

// Errors: kCorrupt (torn, or of another format), kUnavailable.
Result<PartDigests> read_part_digests(const Files& files, const Fd& file);

// For a repair: a journal by which a download takes the file beside it for complete and looks at
// each part before it believes it. Errors: kNoSpace, kUnavailable.
Result<> write_repair_journal(const Files& files, const Fd& journal, const PartDigests& digests);

}  // namespace hearth::transfer
