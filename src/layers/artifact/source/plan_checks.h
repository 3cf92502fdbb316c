// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "layers/artifact/fetch_plan.h"
#include "layers/artifact/source/source_answer.h"
#include "layers/artifact/source/source_text.h"

namespace hearth::testing {

inline void expect_safe(const PlannedFile& file, const std::string& below) {
  EXPECT_TRUE(file.url.starts_with(below)) << file.url;
  EXPECT_EQ(file.url.find_first_of("\\ \"?#@\n\r"), std::string::npos) << file.url;
  EXPECT_EQ(file.url.find("/../"), std::string::npos) << file.url;
  EXPECT_EQ(file.name.find('/'), std::string::npos) << file.name;
  EXPECT_FALSE(file.name.empty());
  EXPECT_TRUE(file.sha256.empty() || is_sha256(file.sha256)) << file.sha256;
  EXPECT_LE(file.size, kMaxPlannedFile);
}

// What may be done without a second look: addresses, names, sizes and digests are in bounds.
inline void expect_safe(const FetchPlan& plan, const std::string& below) {
  EXPECT_FALSE(plan.files.empty());
  for (const auto* files : {&plan.files, &plan.adapters, &plan.texts}) {
    for (const PlannedFile& file : *files) expect_safe(file, below);
  }
}

}  // namespace hearth::testing
