// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/files.h"
#include "base/result.h"
#include "lab/machine/machine.h"
#include "layers/artifact/load_set.h"

namespace hearth::lab {

// The pieces of a file of `size` that are to be resident: together `share` of it to within a page
// for kHead, a quarter of a percent else. In the order of the file; pure. The same for the same
// arguments.
std::vector<Range> pieces_of(Bytes size, double share, PagePattern pattern);

// Brings one file's pages there; see Machine::set_pages for the errors.
Result<> set_file_pages(const Files& files, const std::string& path, double share,
                        PagePattern pattern);

// Whether that is still so, as set_file_pages() made it.
bool is_kept(const Files& files, const std::string& path, double share);

// Reads what is missing of the file's first `share`, and drops nothing.
Result<> read_back(const Files& files, const std::string& path, double share);

// Share of the file that is resident. Errors: kNotFound; kUnavailable, also where the kernel will
// not say.
Result<double> resident_share(const Files& files, const std::string& path);

}  // namespace hearth::lab
