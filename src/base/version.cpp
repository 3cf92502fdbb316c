// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

namespace hearth {

std::string_view version() { return HEARTH_VERSION; }
std::string_view engine_build() { return HEARTH_ENGINE; }

}  // namespace hearth
