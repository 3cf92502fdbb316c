// SPDX-License-Identifier: Apache-2.0
//
// The processor time that the worst of 10,000 damaged headers takes to be read or refused. Without
// an argument: of a made model with a vocabulary of 32,000; with one, of that GGUF file.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "layers/artifact/gguf_header.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/header_mutator.h"
#include "layers/testing/memory_files.h"

namespace hearth {
namespace {

constexpr int kMutations = 10'000;
constexpr double kBarMs = 50;

std::string made_model() {
  auto file = testing::GgufBuilder::small_model();
  std::vector<std::string> tokens, merges;
  for (int i = 0; i < 32'000; ++i) {
    tokens.push_back("token" + std::to_string(i));
    merges.push_back("tok en" + std::to_string(i));
  }
  file.texts("tokenizer.ggml.all_tokens", tokens).texts("tokenizer.ggml.merges", merges);
  for (int i = 1; i < 400; ++i) {
    file.tensor("blk." + std::to_string(i) + ".ffn.weight", {32, 2}, 0, 256);
  }
  return file.bytes();
}

std::string read_all(const char* path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

// Of this thread: what others do on the machine is left out.
double processor_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

int run(const std::string& sound) {
  testing::MemoryFiles files;
  files.contents["m"] = sound;
  const auto header = read_gguf_header(files, "m");
  if (!header) {
    fmt::print("{}\n", header.error().message());
    return EXIT_FAILURE;
  }
  // What follows the header is never read; the file stays as long as it was.
  const auto size = static_cast<std::size_t>(header->data_begin);
  const std::string head = sound.substr(0, size);
  files.claimed_more = sound.size() - size;
  std::vector<double> times;
  for (int seed = 1; seed <= kMutations; ++seed) {
    testing::HeaderMutator mutator{static_cast<std::uint64_t>(seed)};
    std::string bytes = head;
    mutator.mutate(bytes, size);
    files.contents["m"] = std::move(bytes);
    const double begun = processor_ms();
    (void)read_gguf_header(files, "m");
    times.push_back(processor_ms() - begun);
  }
  std::ranges::sort(times);
  fmt::print("header of {} bytes, {} damaged: median {:.2f} ms, worst {:.2f} ms (bar {} ms)\n",
             size, kMutations, times[times.size() / 2], times.back(), kBarMs);
  return times.back() <= kBarMs ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  return hearth::run(argc > 1 ? hearth::read_all(argv[1]) : hearth::made_model());
}
