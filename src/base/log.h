// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace hearth::log {

enum class Level { kDebug, kInfo, kWarning, kError };

// One key=value pair of an event. Values are quoted where a reader would need it.
struct Field {
  std::string_view key;
  std::string value;

  template <class T>
  Field(std::string_view k, const T& v) : key{k}, value{fmt::format("{}", v)} {}
};

// Writes one line: time, level, event name, fields. Thread-safe; a line is never torn.
// Every warning and error is also counted by event name, so that a log nobody reads still shows in
// the metrics.
void write(Level level, std::string_view event, std::initializer_list<Field> fields);

inline void debug(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::kDebug, event, fields);
}
inline void info(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::kInfo, event, fields);
}
inline void warn(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::kWarning, event, fields);
}
inline void error(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::kError, event, fields);
}

// Lines below `level` are dropped (default kInfo).
void set_level(Level level);

// Warnings and errors so far, by event name.
std::map<std::string, std::uint64_t> counts();

}  // namespace hearth::log
