// SPDX-License-Identifier: Apache-2.0
// hearth-fetcher: fetches models from other machines, driven over the socket at descriptor 3.
#include <fmt/format.h>

#include "base/process.h"
#include "fetcher/fetcher.h"

int main(int argc, char**) {
  if (argc != 1) {
    fmt::print(stderr, "hearth-fetcher is started by hearth; see hearth --help\n");
    return 2;
  }
  hearth::fetcher::run(hearth::kChildControlFd);
}
