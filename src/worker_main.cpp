// SPDX-License-Identifier: Apache-2.0
// hearth-worker: one model in one process, driven over the socket at descriptor 3.
//
//   hearth-worker                            what the front starts
//   hearth-worker --reference MODEL TEXT N   for tests: what the engine alone writes, greedily
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/process.h"
#include "worker/reference_verb.h"
#include "worker/worker.h"

namespace {

// The C library learns from large blocks that are freed to keep more and more of them, up to 64 MiB
// in each thread's arena, where malloc_trim() does not reach it: a worker that has given back its
// weights would go on holding that. What it keeps is bounded here, still above what sampling takes
// and frees for each token (3 MiB with the largest vocabularies).
void bound_what_malloc_keeps() {
  constexpr int kKept = 8 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kKept);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
  ::mallopt(M_ARENA_MAX, 2);
}

}  // namespace

int main(int argc, char** argv) {
  bound_what_malloc_keeps();
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
