// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/program.h"

namespace hearth::cli {

// `hearth doctor`: what the server's last days say, and what to do about it.
void add_doctor(Program& program);

}  // namespace hearth::cli
