// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/program.h"

namespace hearth::cli {

// `hearth top`: what the server does, on the whole terminal, as it happens.
void add_top(Program& program);

}  // namespace hearth::cli
