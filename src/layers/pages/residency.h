// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/fd.h"
#include "base/files.h"
#include "layers/artifact/load_set.h"

namespace hearth {

// How residency was found out, best first.
enum class ResidencyMethod {
  kCachestat,  // Linux 6.5 and later; the only one that tells dirty and evicted pages
  kMincore,    // needs the file to be ours or writable, else the kernel answers "all resident"
  kUnknown,    // the kernel will not say; nothing is counted as resident
};

std::string_view name_of(ResidencyMethod method);  // "cachestat", "mincore", "unknown"

// How much of some file pieces is in the page cache, in whole pages and never more than their size.
struct Residency {
  Bytes total;
  Bytes resident;
  Bytes dirty;             // resident, and not yet (or just being) written to the device
  Bytes evicted;           // was resident, and the kernel took it back under pressure
  Bytes recently_evicted;  // of these, so recently that the working set did not fit
  ResidencyMethod method = ResidencyMethod::kCachestat;

  Bytes missing() const { return total - resident; }
  double fraction() const {
    return total == Bytes{}
               ? 0.0
               : static_cast<double>(resident.count()) / static_cast<double>(total.count());
  }
  void add(const Residency& other);  // `method` becomes the worse of both
};

// One piece of an open file. Does not read from the device; about 1 ms per GB of resident pages.
Residency residency_of(const Fd& file, Range range);

// Blocks for some milliseconds; call from a pool. Errors: kNotFound, kUnavailable.
Result<Residency> measure_residency(const Files& files, const LoadSet& load_set);

}  // namespace hearth
