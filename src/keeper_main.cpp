// SPDX-License-Identifier: Apache-2.0
// hearth-keeper: keeps pinned pages of model files in memory, driven over the socket at
// descriptor 3.
#include <fmt/format.h>

#include "base/process.h"
#include "keeper/keeper.h"

int main(int argc, char**) {
  if (argc != 1) {
    fmt::print(stderr, "hearth-keeper is started by hearth; see hearth --help\n");
    return 2;
  }
  hearth::keeper::run(hearth::kChildControlFd);
  return 0;
}
