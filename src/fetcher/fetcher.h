// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hearth::fetcher {

// The whole process: does what the front asks for over `socket`, a stream, one after the other.
// When that closes the process ends at once, whatever it is doing: all that was written counts.
[[noreturn]] void run(int socket);

}  // namespace hearth::fetcher
