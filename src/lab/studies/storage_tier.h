// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/machine/journal.h"

namespace hearth::lab {

// A speed of storage: a slower device is made of this machine's by a limit on reading.
struct StorageTier {
  std::string name;  // "hard disk"
  double megabytes_per_s = 0;
};

// "hdd", "usb", "sata", or a number of MB/s. Errors: kInvalid.
Result<StorageTier> storage_tier(std::string_view text);

// The device number, "8:1", that takes a limit: of a partition that is its whole disk's. `block` is
// where the system lists devices by number, "/sys/dev/block".
std::string limited_device(const std::string& block, const std::string& device);

// A control group whose processes read the device that holds a file at most so fast. Gone, with the
// limit, when this object is; the processes have to have ended before.
class ReadLimit {
 public:
  // Errors: kUnsupported (no control groups of a kind that limits reading, a device that takes no
  // limit), kUnavailable (no permission: it takes root), kNotFound (no such file).
  static Result<ReadLimit> make(const std::string& file, double megabytes_per_s, Journal* journal);

  ReadLimit(ReadLimit&& other) noexcept;
  ReadLimit& operator=(ReadLimit&& other) noexcept;
  ~ReadLimit();

  // Words before a command that start it in the group.
  std::vector<std::string> within() const;

 private:
  explicit ReadLimit(std::string group) : group_{std::move(group)} {}
  void remove();

  std::string group_;  // empty: moved away
};

}  // namespace hearth::lab
