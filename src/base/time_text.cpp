// SPDX-License-Identifier: Apache-2.0
#include "base/time_text.h"

#include <fmt/format.h>

#include <chrono>

namespace hearth {

std::string rfc3339(std::int64_t wall_us, Fraction fraction) {
  using namespace std::chrono;
  const sys_time<microseconds> time{microseconds{wall_us}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  std::string out =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (fraction == Fraction::kNanoseconds) {
    out += fmt::format(".{:06}000", clock.subseconds().count());
  }
  return out + 'Z';
}

}  // namespace hearth
