// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <string>

#include "cli/lab_bench.h"
#include "cli/lab_options.h"

namespace hearth::cli {

// What a study does with its bench; returns what to print behind the report, or why it did nothing.
using StudyWork = std::function<Result<std::string>(LabBench&)>;

// A verb of `hearth lab` with all options that studies share: opens the bench, works, reports.
// Returns the verb and its options, for what it takes beside them.
struct StudyVerb {
  CLI::App* verb = nullptr;
  std::shared_ptr<LabOptions> options;
};
StudyVerb add_study(CLI::App& lab, const CLI::App& app, const std::string& study,
                    const std::string& help, StudyWork work);

}  // namespace hearth::cli
