// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/target/open_target.h"

namespace hearth::lab {

// What a Hearth of the lab's own is started with, and what it leaves on disk.

// Copies the program and what it needs beside it into `folder`: the running lab maps its own, and
// pages that are mapped cannot be dropped. `program` empty: the running one. Returns the copy's
// path. Errors: kNotFound, kNoSpace, kUnavailable.
Result<std::string> copy_hearth(const std::string& program, const std::string& folder);

// The text of its configuration: nothing happens by itself, there is room for all that a study
// keeps, and models may be fetched from `origin`.
std::string hearth_configuration(const TargetOptions& options, const std::string& origin);

// Regular files in a folder and all below it whose names end so, sorted.
std::vector<std::string> files_below(const std::string& folder, std::string_view ending = "");
std::uint64_t size_of(const std::vector<std::string>& files);

}  // namespace hearth::lab
