// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "lab/report/compare.h"
#include "lab/report/summary.h"

namespace hearth::lab {

// How the terminal, or the pipe, wants its text.
struct TextLook {
  bool terminal = false;   // else lines of cells with tabs between them
  std::size_t width = 80;  // cells
  bool unicode = false;
  bool colour = false;
};

// The run in a screenful: a bar for each side of each arm, with the median wait and its interval,
// and what did not count. Control characters of strangers are left out.
std::string terminal_text(const RunInfo& info, const Summary& summary, const TextLook& look);

// One line for each arm and side, the worst first, and the sentence that sums it up.
std::string terminal_text(const Comparison& comparison, const TextLook& look);

}  // namespace hearth::lab
