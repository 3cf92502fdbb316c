// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/report/summary.h"
#include "lab/run_directory.h"

namespace hearth::lab {

// One page that needs nothing else: no network, no script. It follows the reader's light or dark
// and is read on a phone as well. Whatever came from a server or a file is text in it.
std::string html_page(const RunInfo& info, const std::vector<Trial>& rows, const Summary& summary);

}  // namespace hearth::lab
