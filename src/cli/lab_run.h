// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/lab_options.h"
#include "lab/run_directory.h"
#include "lab/studies/arm.h"

namespace hearth::cli {

// A run's directory, and what it is a run of.
struct LabRun {
  lab::RunDirectory rows;
  LabOptions options;  // of a run that goes on: as it was begun
  // Of the models, absolute; names where only servers given by address are asked.
  std::vector<std::string> models;
};

// Begins a run, or opens the one of --resume. Nothing is written before the models are found.
// Errors: kInvalid (no model, options that do not fit each other), kNotFound (a model), kConflict
// (the directory is not empty, or another process writes there), and what reading a run says.
Result<LabRun> lab_run(const std::string& study, LabOptions options);

// Whether any server is started for this.
bool starts_servers(const LabOptions& options);

// Errors: kInvalid: a name of --only that none of these arms' names begins with; it says which
// there are.
Result<> check_only(const std::vector<std::string>& only, const std::vector<lab::Study>& studies);

// Copies a file, with an eye on `stop`. Errors: kNoSpace, kUnavailable, kCancelled.
Result<> copy_file(const std::string& from, const std::string& to,
                   const std::function<bool()>& stop);

}  // namespace hearth::cli
