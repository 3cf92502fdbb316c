// SPDX-License-Identifier: Apache-2.0
//
// Headers that strangers may have made, by seed: no crash, little memory, no more reading than the
// file is long.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "layers/artifact/artifact.h"
#include "layers/artifact/gguf_details.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/header_mutator.h"
#include "layers/testing/memory_files.h"

namespace {

std::atomic<std::size_t> allocated{0};
std::atomic<std::size_t> most_allocated{0};

void count(std::size_t size) {
  const std::size_t now = allocated.fetch_add(size) + size;
  std::size_t most = most_allocated.load();
  while (now > most && !most_allocated.compare_exchange_weak(most, now)) {
  }
}

void* counted(std::size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc{};
  count(::malloc_usable_size(memory));
  return memory;
}

void uncounted(void* memory) {
  if (memory != nullptr) allocated -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { uncounted(memory); }

namespace hearth {
namespace {

using testing::GgufBuilder;
using testing::HeaderMutator;
using testing::MemoryFiles;

constexpr int kMutations = 10'000;
constexpr std::size_t kMostMemory = std::size_t{256} << 20;

std::string rich_model() {
  GgufBuilder file = GgufBuilder::small_model();
  std::vector<std::string> tokens;
  for (int i = 0; i < 500; ++i) tokens.push_back("token" + std::to_string(i));
  file.texts("tokenizer.ggml.merges", tokens).u32("general.alignment", 32);
  file.u32("llama.attention.head_count", 4).u32("llama.attention.head_count_kv", 2);
  for (int i = 1; i < 40; ++i) {
    file.tensor("blk." + std::to_string(i) + ".ffn.weight", {32, 2}, 0, 256);
  }
  return file.bytes();
}

std::string shard(int number, int count) {
  GgufBuilder file;
  if (number == 0) file.text("general.architecture", "llama");
  file.u16("split.no", static_cast<std::uint16_t>(number));
  file.u16("split.count", static_cast<std::uint16_t>(count)).i32("split.tensors.count", count);
  file.tensor("t" + std::to_string(number), {32}, 0, 128);
  return file.bytes();
}

// Reads the file in all ways; true when it passed for a model.
bool read_bounded(const MemoryFiles& files, const std::vector<std::string>& paths) {
  std::uint64_t size = 0;
  for (const std::string& path : paths) size += files.contents.at(path).size() + 4096;
  if (files.claimed_more > 0) size = std::uint64_t{33} << 20;
  files.read = 0;
  most_allocated = allocated.load();
  const std::size_t before = allocated;
  const Result<Artifact> artifact = inspect_files(files, paths, {});
  EXPECT_LE(files.read, 2 * size);
  EXPECT_LT(most_allocated - before, kMostMemory);
  files.read = 0;
  most_allocated = allocated.load();
  const Result<GgufDetails> details = read_gguf_details(files, paths);
  EXPECT_LE(files.read, 4 * size);
  EXPECT_LT(most_allocated - before, kMostMemory);
  if (!artifact) {
    EXPECT_FALSE(artifact.error().message().empty());
    return false;
  }
  for (const Artifact::Shard& file : artifact->shards) {
    for (const Range& range : file.ranges) EXPECT_LE(range.end(), file.file.size.count());
  }
  return true;
}

TEST(HeaderMutation, NeverHarms) {
  const std::vector<std::string> models{GgufBuilder::small_model().bytes(), rich_model()};
  int passed = 0;
  for (int seed = 1; seed <= kMutations; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    HeaderMutator mutator{static_cast<std::uint64_t>(seed)};
    MemoryFiles files;
    std::vector<std::string> paths{"m"};
    if (seed % 5 == 0) {
      paths = {"a", "b", "c"};
      for (int i = 0; i < 3; ++i) {
        files.contents[paths[static_cast<std::size_t>(i)]] =
            shard(static_cast<int>(mutator.next() % 4), static_cast<int>(2 + mutator.next() % 2));
      }
      mutator.mutate(files.contents[paths[mutator.next() % 3]]);
    } else {
      files.contents["m"] = models[static_cast<std::size_t>(seed) % models.size()];
      mutator.mutate(files.contents["m"]);
    }
    passed += read_bounded(files, paths) ? 1 : 0;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(passed, 10);
  EXPECT_LT(passed, kMutations / 2);
}

// Sparse files are as long as they like: counts in them are no proof of anything.
TEST(HeaderMutation, AHugeFileIsNoProofOfLengths) {
  struct {
    const char* name;
    std::string bytes;
  } const cases[] = {
      {"zeros", "GGUF\x03" + std::string(3, '\0')},
      {"keys", GgufBuilder{}.text("general.architecture", "x").claim_keys(65000).bytes()},
      {"tensors", GgufBuilder{}.text("general.architecture", "x").claim_tensors(130000).bytes()},
      {"text", GgufBuilder{}.raw("general.name", 8, std::string("\0\0\0\x0e\0\0\0\0", 8)).bytes()},
      {"texts", GgufBuilder{}.array("x", 8, 2'000'000).bytes()},
      {"numbers", GgufBuilder{}.array("x", 10, std::uint64_t{1} << 40).bytes()},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    MemoryFiles files;
    files.claimed_more = std::uint64_t{1} << 42;
    files.contents["m"] = c.bytes;
    EXPECT_FALSE(read_bounded(files, {"m"}));
  }
}

}  // namespace
}  // namespace hearth
