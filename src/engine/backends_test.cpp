// SPDX-License-Identifier: Apache-2.0
#include "engine/backends.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/engine_log.h"

namespace hearth::engine {
namespace {

constexpr const char* kAsked = "HEARTH_TEST_VARIANT";
constexpr const char* kAnswer = "\nvariant=";

// The variant that a new process of this very program loads: backends stay loaded, and other tests
// may have loaded them here.
std::string loaded_with(const std::string& variant) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = std::string{kAsked} + "='" + variant + "' '" + self +
                              "' --gtest_filter=BackendsChild.SaysItsVariant 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "no process";
  std::string said;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    said.append(buffer.data(), n);
  }
  ::pclose(pipe);
  const std::size_t at = said.find(kAnswer);
  if (at == said.npos) return "no answer: " + said;
  const std::size_t begin = at + std::string_view{kAnswer}.size();
  return said.substr(begin, said.find('\n', begin) - begin);
}

TEST(BackendsChild, SaysItsVariant) {
  const char* variant = std::getenv(kAsked);
  if (variant == nullptr) GTEST_SKIP() << "only for loaded_with()";
  route_engine_log();
  const Result<Backends> backends = load_backends(variant);
  ASSERT_TRUE(backends) << backends.error().message();
  std::printf("%s%s\n", kAnswer, backends->cpu_variant.c_str());
}

TEST(Backends, KnownVariantIsLoadedAsItIs) {
  const std::string best = loaded_with("");
  ASSERT_NE(best, "");
  ASSERT_EQ(best.find(' '), best.npos) << best;
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
