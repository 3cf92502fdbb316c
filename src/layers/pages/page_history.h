// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "layers/pages/residency.h"

namespace hearth {

// Why pages of a load set are not in memory.
enum class PagesCause {
  kNone,       // they are
  kNeverRead,  // neither we nor the kernel know of a time when they were
  kDropped,    // cool() gave them back, or somebody else asked the kernel to
  kEvicted,    // the kernel needed the memory
  kReplaced,   // the file is not the one that was in memory
};

// "pages.never_read", ...; empty for kNone.
std::string_view code_of(PagesCause cause);

// What successive measurements of one load set say about the cause. A cause stays until the set has
// been wholly resident once more.
//
// The kernel keeps a mark for each page that it took for want of memory, also from before this
// server's start, and none for a page that it was asked to drop. So what has gone without marks was
// dropped; where it does not tell of marks, want of memory is the likelier cause.
class PageHistory {
 public:
  void note_dropped() {
    dropped_ = true;
    most_ = Bytes{};
  }
  void note_replaced() { replaced_ = true; }
  // Somebody of ours read the set and let go of what had been missing, as hashing does. That takes
  // the kernel's marks with it, so that from then on their lack says nothing.
  void note_read_past() { marks_lost_ = true; }

  // Takes in a new measurement.
  PagesCause note(const Residency& now);

 private:
  Bytes most_;  // resident at once, since it was last complete or dropped
  bool dropped_ = false;
  bool replaced_ = false;
  bool marks_lost_ = false;
};

}  // namespace hearth
