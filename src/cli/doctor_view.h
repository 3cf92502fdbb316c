// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/terminal.h"
#include "lab/doctor/circumstances.h"
#include "lab/doctor/course.h"
#include "lab/doctor/finding.h"

// What the doctor says, as text. Pure: same input, same text.
namespace hearth::cli {

// What is so just now, and what could not be observed.
std::string facts_view(const lab::Circumstances& facts, const OutputStyle& style);

struct LookedAt {
  std::size_t replies = 0;
  double days = 1;
};
// Numbered from 1, as `--apply` counts them.
std::string findings_view(const std::vector<lab::Finding>& findings, const LookedAt& looked_at,
                          const OutputStyle& style);

// What came of remedies; empty where none was applied.
using Courses = std::vector<std::pair<lab::Applied, lab::Course>>;
std::string courses_view(const Courses& courses, std::int64_t now_us, const OutputStyle& style);

}  // namespace hearth::cli
