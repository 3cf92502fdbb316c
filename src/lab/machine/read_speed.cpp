// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/read_speed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "base/fd.h"

namespace hearth::lab {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kPiece = 4 << 20;
constexpr std::uint64_t kRound = 32 << 20;  // what one figure is made of
constexpr int kThreads = 4;
constexpr auto kDuration = 800ms;

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

// Bytes that were read of [begin, end), which is taken piece by piece from `next`.
std::uint64_t read_pieces(int file, std::atomic<std::uint64_t>& next, std::uint64_t end) {
  const std::unique_ptr<void, Freed> buffer{std::aligned_alloc(4096, kPiece)};
  std::uint64_t sum = 0;
  while (buffer != nullptr) {
    const std::uint64_t at = next.fetch_add(kPiece);
    if (at >= end) break;
    const ssize_t got = ::pread(file, buffer.get(), kPiece, static_cast<off_t>(at));
    if (got <= 0) break;
    sum += static_cast<std::uint64_t>(got);
  }
  return sum;
}

// Bytes per second; 0: nothing came.
double round_of(int file, std::uint64_t begin, std::uint64_t end) {
  const auto started = Clock::now();
  std::atomic<std::uint64_t> next{begin}, sum{0};
  {
    std::vector<std::jthread> threads;
    for (int n = 0; n < kThreads; ++n) {
      threads.emplace_back([&] { sum += read_pieces(file, next, end); });
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return seconds > 0 ? static_cast<double>(sum.load()) / seconds : 0;
}

}  // namespace

std::optional<double> fastest_direct_read(const std::string& path) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT)};
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < kPiece) return std::nullopt;
  double best = 0;
  const auto deadline = Clock::now() + kDuration;
  for (std::uint64_t at = 0; Clock::now() < deadline; at = at + kRound < size ? at + kRound : 0) {
    best = std::max(best, round_of(file.get(), at, std::min(at + kRound, size)));
  }
  return best > 0 ? std::optional{best} : std::nullopt;
}

}  // namespace hearth::lab
