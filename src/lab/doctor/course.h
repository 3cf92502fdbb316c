// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/doctor/finding.h"
#include "lab/doctor/past_reply.h"

namespace hearth::lab {

// A remedy that somebody applied.
struct Applied {
  std::string server;  // its address
  std::string code;
  std::string model;
  std::string command;
  std::int64_t at_us = 0;  // wall clock

  friend bool operator==(const Applied&, const Applied&) = default;
};

// A JSON document of them, and back. Errors: kCorrupt.
std::string encode(const std::vector<Applied>& applied);
Result<std::vector<Applied>> decode_applied(std::string_view text);

// What came of one, by the replies of the finding's model (of all models where it has none).
struct Course {
  enum class Verdict { kTooEarly, kGone, kBetter, kSame, kWorse };
  struct Side {
    int requests = 0;    // of the model
    int cold = 0;        // that the finding cost time
    double cost_s = 0;   // theirs
    double per_day = 0;  // seconds; after: at the requests a day of before
  };
  Side before, after;
  Verdict verdict = Verdict::kTooEarly;
};
std::string_view name_of(Course::Verdict verdict);  // "too early", "gone", ...

// Seconds a day after are reckoned from the seconds a request: an hour since then with fewer
// requests is no success. Fewer than kLeastAfter requests since then tell nothing. Pure.
Course course_of(const Applied& applied, std::span<const PastReply> replies, std::int64_t now_us);

inline constexpr int kLeastAfter = 3;

boost::json::object to_json(const Applied& applied, const Course& course);

}  // namespace hearth::lab
