// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "layers/pages/device.h"

namespace hearth {

enum class ReadWay {
  kMapped,    // through the mapping, as the kernel reads ahead
  kBuffered,  // into the page cache by reads
  kDirect,    // past the page cache
};
std::string_view name_of(ReadWay way);  // "mapped", "buffered", "direct"

enum class ReadDirection { kForward, kBackward };
std::string_view name_of(ReadDirection direction);  // "forward", "backward"

// How a lot of bytes is read from a device.
struct ReadStyle {
  ReadWay way = ReadWay::kBuffered;
  int readers = 2;  // reads under way at once
  ReadDirection direction = ReadDirection::kForward;
  Bytes block{std::uint64_t{4} << 20U};

  friend bool operator==(const ReadStyle&, const ReadStyle&) = default;
};

// What real reads of at least kTellingRead in one style have shown.
struct StyleRate {
  ReadStyle style;
  double bytes_per_s = 0;  // the newest count most
  int reads = 0;
};

// Smaller reads say more about one request's way than about the device, and get no experiment.
constexpr Bytes kTellingRead{std::uint64_t{64} << 20U};

// One device's rates. Few: there are few styles.
using DeviceRates = std::vector<StyleRate>;

// The best rate of any style; 0: nothing is known.
double best_rate(const DeviceRates& rates);

// Takes in a read. One of less than kTellingRead, or without time, changes nothing: false then.
bool note_read(DeviceRates& rates, const ReadStyle& style, Bytes bytes, Duration time);

// Whether the device is to serve one cold read at a time: one with heads, or behind a network. What
// says of itself that it has heads and was seen to read faster than any heads can, has none.
bool is_serial(const Device& device, const DeviceRates& rates);

struct ReadNeed {
  Bytes missing;
  enum class Fit { kFits, kTooLarge } fit = Fit::kFits;  // all of it into the page cache
  enum class Purpose { kLoad, kWarmUp } purpose = Purpose::kLoad;
};

struct ReadChoice {
  ReadStyle style;
  std::string why;  // for people
};

// Chooses by what was measured: the fastest style, unless the usual one is nearly as fast. A read
// of at least kTellingRead tries another style now and then, so that a better one is found; no
// experiment leaves less in the page cache than the choice would have. Reads past the page cache
// only where takes_direct_reads(), and when the need is too large for the cache, or they were
// measured several times to be twice as fast.
ReadChoice choose_read(const Device& device, const DeviceRates& rates, const ReadNeed& need,
                       Random& random);

}  // namespace hearth
