// SPDX-License-Identifier: Apache-2.0
#include "front/system_pressure.h"

#include <charconv>
#include <string>

#include "base/files.h"

namespace hearth::front {

double some_avg10(std::string_view text) {
  constexpr std::string_view kKey = "some avg10=";
  const std::size_t at = text.find(kKey);
  if (at == std::string_view::npos) return 0;
  const std::string_view number = text.substr(at + kKey.size());
  double value = 0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  return value;
}

Pressure read_system_pressure() {
  return {some_avg10(read_small_file("/proc/pressure/cpu")),
          some_avg10(read_small_file("/proc/pressure/memory"))};
}

}  // namespace hearth::front
