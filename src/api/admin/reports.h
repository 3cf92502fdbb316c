// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

// What `hearth lab` left in a server's data directory. These files are small and read where they
// are asked for: one run's at a time, bounded.
namespace hearth::api::admin {

// Where the runs lie, by what Service::configuration() says.
Result<std::string> reports_directory(std::string_view configuration);

// The newest runs as a JSON array: name, study, model, when it began, and which files of its report
// there are. Empty where there is no such directory. What is no run is left out.
std::string list_runs(const Files& files, const std::string& directory);

enum class ReportPart { kPage, kSummary };

// One file of a run. Errors: kNotFound, also of a name that is none; kInvalid, of one that is too
// long to be a report.
Result<std::string> report_file(const Files& files, const std::string& directory,
                                const std::string& name, ReportPart part);

}  // namespace hearth::api::admin
