// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace hearth::front {

// How long a model's weights stay after its last reply: a length of time, zero for "give them back
// at once", or until the memory is wanted for something else.
class KeepAlive {
 public:
  static KeepAlive until_wanted() { return KeepAlive{std::nullopt}; }
  // `length` must not be negative.
  static KeepAlive after(Duration length) { return KeepAlive{length}; }

  // In the forms that Ollama's clients use: a bare number is seconds, with a fraction if need be;
  // a Go duration has units ("1h30m", "250ms"); a negative one of either means until_wanted().
  // Errors: kInvalid for anything else, and for more than kLongest.
  static Result<KeepAlive> parse(std::string_view text);
  static Result<KeepAlive> of_seconds(double seconds);

  // Longer than this is a mistake rather than a wish; "for ever" has a form of its own.
  static constexpr std::chrono::hours kLongest{24 * 365 * 100};

  bool is_until_wanted() const { return !length_; }
  // Of one that is not until_wanted().
  Duration length() const { return *length_; }

  // "5m0s" as Go writes it, "-1" for until_wanted(): parse() takes it back.
  std::string text() const;

  friend bool operator==(const KeepAlive&, const KeepAlive&) = default;

 private:
  explicit KeepAlive(std::optional<Duration> length) : length_{length} {}

  std::optional<Duration> length_;
};

}  // namespace hearth::front
