// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace hearth::front {

// All that is wrong with a configuration, in the order in which it was found, so that it can be
// mended in one go.
class Problems {
 public:
  void add(std::string_view place, std::string_view message) {
    if (!text_.empty()) text_ += '\n';
    text_.append(place).append(": ").append(message);
  }

  bool empty() const { return text_.empty(); }
  Error error() const { return Error{ErrorCode::kInvalid, text_}; }

 private:
  std::string text_;
};

}  // namespace hearth::front
