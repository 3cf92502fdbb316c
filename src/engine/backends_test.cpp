// SPDX-License-Identifier: Apache-2.0
#include "engine/backends.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "engine/engine_log.h"

namespace hearth::engine {
namespace {

// The variant that a process of its own loads: backends stay loaded, so each try needs another.
std::string loaded_with(const std::string& variant) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    route_engine_log();
    const Result<Backends> backends = load_backends(variant);
    const std::string word = backends ? backends->cpu_variant : backends.error().message();
    const ssize_t written = ::write(ends[1], word.data(), word.size());
    ::_exit(written == static_cast<ssize_t>(word.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::array<char, 256> word{};
  const ssize_t count = ::read(ends[0], word.data(), word.size());
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return {word.data(), static_cast<std::size_t>(count > 0 ? count : 0)};
}

TEST(Backends, KnownVariantIsLoadedAsItIs) {
  const std::string best = loaded_with("");
  ASSERT_NE(best, "");
  EXPECT_EQ(loaded_with(best), best);
  EXPECT_EQ(loaded_with("x64"), "x64");  // every machine can run it, though it is the slowest
}

TEST(Backends, AWordThatNamesNoVariantMeansALookAtAll) {
  const std::string best = loaded_with("");
  for (const char* word : {"nosuch", "../libggml-cpu-x64", "x64.so", "X64", "x64/"}) {
    EXPECT_EQ(loaded_with(word), best) << word;
  }
}

}  // namespace
}  // namespace hearth::engine
