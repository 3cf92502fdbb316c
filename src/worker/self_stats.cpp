// SPDX-License-Identifier: Apache-2.0
#include "worker/self_stats.h"

#include <sys/resource.h>

#include <charconv>
#include <string>
#include <string_view>

#include "base/files.h"

namespace hearth::worker {
namespace {

// The number after "<key>:" in a file of such lines; 0 when it is not there.
std::uint64_t number_after(std::string_view text, std::string_view key) {
  std::size_t at = text.find(key);
  if (at == text.npos) return 0;
  at = text.find_first_of("0123456789", at + key.size());
  if (at == text.npos) return 0;
  std::uint64_t value = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

}  // namespace

Reads reads_so_far() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {Bytes{number_after(read_small_file("/proc/self/io"), "\nread_bytes:")}, usage.ru_majflt};
}

Resident resident_now() {
  const std::string status = read_small_file("/proc/self/status");
  return {
      Bytes{number_after(status, "VmRSS:") << 10}, Bytes{number_after(status, "RssAnon:") << 10},
      Bytes{number_after(status, "VmSwap:") << 10}, Bytes{number_after(status, "RssFile:") << 10}};
}

}  // namespace hearth::worker
