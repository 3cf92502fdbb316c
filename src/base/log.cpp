// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>

namespace hearth::log {
namespace {

std::atomic<Level> threshold{Level::kInfo};
std::mutex counts_mutex;
std::map<std::string, std::uint64_t>& counters() {
  static std::map<std::string, std::uint64_t> map;
  return map;
}

std::string_view name_of(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarning:
      return "warn";
    case Level::kError:
      return "error";
  }
  return "error";
}

bool plain(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == '\x7f') return false;
  }
  return true;
}

void append_quoted(std::string& line, std::string_view text) {
  line += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      line += '\\';
      line += c;
    } else if (c == '\n') {
      line += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  line += '"';
}

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:03}Z", buffer, ms);
}

}  // namespace

void write(Level level, std::string_view event, std::initializer_list<Field> fields) {
  if (level >= Level::kWarning) {
    std::lock_guard lock{counts_mutex};
    ++counters()[std::string{event}];
  }
  if (level < threshold.load(std::memory_order_relaxed)) return;
  std::string line = fmt::format("{} {:<5} {}", timestamp(), name_of(level), event);
  for (const Field& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    if (plain(field.value)) {
      line += field.value;
    } else {
      append_quoted(line, field.value);
    }
  }
  line += '\n';
  // One write keeps the line whole between threads and processes that share the file.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void set_level(Level level) { threshold = level; }

std::map<std::string, std::uint64_t> counts() {
  std::lock_guard lock{counts_mutex};
  return counters();
}

}  // namespace hearth::log
