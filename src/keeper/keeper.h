// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hearth::keeper {

// Does what comes over `socket` until the other side goes away: kKeep and kForget. Makes itself the
// first to go when memory runs out, since all that is lost with it is pins.
void run(int socket);

}  // namespace hearth::keeper
