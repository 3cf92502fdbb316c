// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "policy/household/trace.h"

namespace hearth::household {

// A household of eight models over so many days, from a Monday: an index that is refreshed every
// quarter of an hour, a home automation that acts each hour and when somebody calls, a door bell's
// camera, dictation, an assistant for a programmer's working days, two chats in the evening, and a
// large model that writes a summary on most nights. Each seed is another household: rates, hours
// and lengths of sittings differ by up to a fifth, and all times are drawn anew. The same seed
// gives the same trace everywhere.
Trace generate(std::uint64_t seed, int days = 14);

}  // namespace hearth::household
