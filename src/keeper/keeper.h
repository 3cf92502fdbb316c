// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "keeper/locks.h"

namespace hearth::keeper {

// The whole process: prepares it, then serves its front over `socket`.
void run(int socket);

// Does what the front asks for over `socket`, a stream, until that closes. A long lock is given up
// within a step of `locks` when its pages are to be forgotten or the socket closes.
void serve(int socket, Locks& locks);

}  // namespace hearth::keeper
