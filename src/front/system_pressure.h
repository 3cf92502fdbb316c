// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "front/model.h"

namespace hearth::front {

// From /proc/pressure; zeros where the kernel has no PSI. Reads two small files of procfs, which
// never wait for a device.
Pressure read_system_pressure();

// The "some avg10" of one such file's text; 0 when it is not there.
double some_avg10(std::string_view text);

}  // namespace hearth::front
