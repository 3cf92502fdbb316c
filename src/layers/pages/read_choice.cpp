// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/read_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace hearth {
namespace {

using namespace literals;

constexpr double kNewShare = 0.3;
// So much faster a style must be than the usual one: less is noise.
constexpr double kClearly = 1.1;
// A read past the page cache leaves nothing for the next load, so it has to be worth two.
constexpr double kDirectPays = 2.0;
constexpr int kSureReads = 3;
constexpr std::uint64_t kOneIn = 12;  // of telling reads tries another style
// No disk with heads reads so fast: two of the fastest actuators at the outer rim.
constexpr double kMostOfHeads = 700e6;

constexpr std::array<int, 4> kDepths{1, 2, 4, 8};

int usual_readers(const Device& device) {
  // Heads do not get faster by being asked for two places.
  return device.kind == DeviceKind::kRotational ? 1 : 2;
}

ReadStyle usual_style(const Device& device, ReadWay way) {
  ReadStyle style;
  style.way = way;
  style.readers = way == ReadWay::kMapped ? 1 : usual_readers(device);
  return style;
}

std::vector<ReadStyle> styles_of(const Device& device, ReadWay way, ReadNeed::Purpose purpose) {
  std::vector<ReadStyle> styles;
  for (const int readers : kDepths) {
    if (device.kind == DeviceKind::kRotational && readers > 2) continue;
    ReadStyle style = usual_style(device, way);
    style.readers = readers;
    styles.push_back(style);
    style.block = 1_MiB;
    if (device.kind != DeviceKind::kRotational) styles.push_back(style);
  }
  // A load wants its weights in the order in which they are used.
  if (purpose == ReadNeed::Purpose::kWarmUp) {
    ReadStyle style = usual_style(device, way);
    style.direction = ReadDirection::kBackward;
    styles.push_back(style);
  }
  return styles;
}

const StyleRate* rate_of(const DeviceRates& rates, const ReadStyle& style) {
  const auto found = std::ranges::find(rates, style, &StyleRate::style);
  return found == rates.end() ? nullptr : &*found;
}

std::string rate_text(double bytes_per_s) { return fmt::format("{:.0f} MB/s", bytes_per_s / 1e6); }

// Of the styles that have been measured; null: none was.
const StyleRate* fastest(const DeviceRates& rates, const std::vector<ReadStyle>& styles,
                         int least_reads) {
  const StyleRate* best = nullptr;
  for (const StyleRate& rate : rates) {
    if (rate.reads < least_reads || std::ranges::find(styles, rate.style) == styles.end()) continue;
    if (best == nullptr || rate.bytes_per_s > best->bytes_per_s) best = &rate;
  }
  return best;
}

ReadChoice best_of(const Device& device, const DeviceRates& rates, ReadWay way,
                   ReadNeed::Purpose purpose) {
  const ReadStyle usual = usual_style(device, way);
  const StyleRate* best = fastest(rates, styles_of(device, way, purpose), 1);
  if (best == nullptr) return {usual, "nothing measured yet"};
  const StyleRate* known = rate_of(rates, usual);
  if (known != nullptr && best->bytes_per_s < kClearly * known->bytes_per_s) best = known;
  return {best->style, "measured " + rate_text(best->bytes_per_s)};
}

bool direct_pays(const Device& device, const DeviceRates& rates, ReadNeed::Purpose purpose) {
  const StyleRate* direct =
      fastest(rates, styles_of(device, ReadWay::kDirect, purpose), kSureReads);
  const StyleRate* buffered =
      fastest(rates, styles_of(device, ReadWay::kBuffered, purpose), kSureReads);
  return direct != nullptr && buffered != nullptr &&
         direct->bytes_per_s >= kDirectPays * buffered->bytes_per_s;
}

// One of the styles that have been tried least.
std::optional<ReadStyle> experiment(const DeviceRates& rates, const std::vector<ReadStyle>& styles,
                                    const ReadStyle& chosen, Random& random) {
  std::vector<ReadStyle> least;
  int fewest = 0;
  for (const ReadStyle& style : styles) {
    if (style == chosen) continue;
    const StyleRate* known = rate_of(rates, style);
    const int reads = known == nullptr ? 0 : known->reads;
    if (least.empty() || reads < fewest) {
      least.clear();
      fewest = reads;
    }
    if (reads == fewest) least.push_back(style);
  }
  if (least.empty()) return std::nullopt;
  return least[random.next() % least.size()];
}

}  // namespace

std::string_view name_of(ReadWay way) {
  constexpr std::array<std::string_view, 3> kNames{"mapped", "buffered", "direct"};
  return kNames[static_cast<std::size_t>(way)];
}

std::string_view name_of(ReadDirection direction) {
  return direction == ReadDirection::kForward ? "forward" : "backward";
}

double best_rate(const DeviceRates& rates) {
  double best = 0;
  for (const StyleRate& rate : rates) best = std::max(best, rate.bytes_per_s);
  return best;
}

bool note_read(DeviceRates& rates, const ReadStyle& style, Bytes bytes, Duration time) {
  if (bytes < kTellingRead || time <= Duration::zero()) return false;
  const double rate =
      static_cast<double>(bytes.count()) / std::chrono::duration<double>(time).count();
  const auto found = std::ranges::find(rates, style, &StyleRate::style);
  if (found == rates.end()) {
    rates.push_back(StyleRate{style, rate, 1});
  } else {
    found->bytes_per_s += kNewShare * (rate - found->bytes_per_s);
    ++found->reads;
  }
  return true;
}

bool is_serial(const Device& device, const DeviceRates& rates) {
  if (device.kind == DeviceKind::kNetwork) return true;
  return device.kind == DeviceKind::kRotational && best_rate(rates) < kMostOfHeads;
}

ReadChoice choose_read(const Device& device, const DeviceRates& rates, const ReadNeed& need,
                       Random& random) {
  if (device.kind == DeviceKind::kMemory) {
    return {usual_style(device, ReadWay::kMapped), "it lies in memory"};
  }
  const bool load = need.purpose == ReadNeed::Purpose::kLoad;
  ReadWay way = ReadWay::kBuffered;
  std::string reason;
  if (load && takes_direct_reads(device)) {
    if (need.fit == ReadNeed::Fit::kTooLarge) {
      way = ReadWay::kDirect;
      reason = "more than the page cache can hold; ";
    } else if (direct_pays(device, rates, need.purpose)) {
      way = ReadWay::kDirect;
      reason = "clearly faster than through the page cache; ";
    }
  }
  ReadChoice choice = best_of(device, rates, way, need.purpose);
  choice.why = reason + choice.why;
  if (need.missing < kTellingRead || random.next() % kOneIn != 0) return choice;
  const auto other = experiment(rates, styles_of(device, way, need.purpose), choice.style, random);
  if (other) choice = {*other, reason + "an experiment, to see whether it is faster"};
  return choice;
}

}  // namespace hearth
