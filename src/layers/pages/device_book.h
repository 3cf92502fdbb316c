// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "layers/pages/read_choice.h"

namespace hearth {

// What was measured of devices, by Device::key.
using DeviceBook = std::map<std::string, DeviceRates>;

// JSON, and back. Errors: kCorrupt, naming what is wrong; a rate that no device has counts as that.
std::string encode(const DeviceBook& book);
Result<DeviceBook> decode_device_book(const std::string& text);

// The book that is kept in a file. One that cannot be read is renamed aside (path + ".bad") and a
// new one begun, because all in it can be measured again. Blocks.
DeviceBook load_device_book(const Files& files, const std::string& path);

// Replaces the file in one step: after a crash it is the old one or the new one. Blocks. Errors:
// kNoSpace, kUnavailable; the file is then what it was.
Result<> save_device_book(const Files& files, const std::string& path, const DeviceBook& book);

}  // namespace hearth
