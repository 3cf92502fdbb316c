// SPDX-License-Identifier: Apache-2.0
// hearth-worker: one model in one process, driven over the socket at descriptor 3.
//
//   hearth-worker                            what the front starts
//   hearth-worker --reference MODEL TEXT N   for tests: what the engine alone writes, greedily
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/process.h"
#include "worker/reference_verb.h"
#include "worker/worker.h"

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view{argv[1]} == "--reference") {
    return hearth::worker::print_reference(argv[2], argv[3], std::atoi(argv[4]));
  }
  if (argc != 1) {
    fmt::print(stderr, "hearth-worker is started by hearth; see hearth --help\n");
    return 2;
  }
  hearth::worker::Worker worker{hearth::kChildControlFd};
  worker.run();
  ::_exit(0);
}
