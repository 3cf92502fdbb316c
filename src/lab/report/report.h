// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "lab/report/summary.h"
#include "lab/run_directory.h"

namespace hearth::lab {

// Writes report.html, rows.csv and summary.json beside the rows, of whatever has been measured so
// far. Errors: kNoSpace, kUnavailable.
Result<Summary> write_report(RunDirectory& run);

}  // namespace hearth::lab
