// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

namespace hearth::lab {

// The one thing to do about a finding.
struct Remedy {
  std::string text;  // a sentence
  std::string
      command;  // for a shell, or a line of the configuration; empty: nothing is to be typed
  // POST /api/hearth/<action> with model and layer does the same. Empty: it is not the server's to
  // do.
  std::string action;
  std::string layer;

  bool can_apply() const { return !action.empty(); }
};

// Something that made replies wait, or would.
struct Finding {
  std::string code{};   // a verdict's code, or one of the doctor's own: "disk.slow", "memory.limit"
  std::string model{};  // empty: about the machine
  int requests = 0;     // that it cost time
  double cost_s = 0;    // theirs, together
  // Of waiting. Findings may tell of the same seconds, so they do not add up. 0: it has not cost
  // anything yet.
  double seconds_per_day = 0;
  std::string text{};
  Remedy remedy{};
};

boost::json::object to_json(const Finding& finding);

}  // namespace hearth::lab
