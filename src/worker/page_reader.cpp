// SPDX-License-Identifier: Apache-2.0
#include "worker/page_reader.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/fd.h"
#include "worker/idle_priority.h"

namespace hearth::worker {
namespace {

constexpr std::uint64_t kBlock = 4 << 20;
constexpr int kThreads = 2;
constexpr int kNice = 10;  // behind whatever computes meanwhile

// Linux 6.5's cachestat(2); older C libraries have no wrapper.
constexpr long kCachestat = 451;
struct CachestatRange {
  std::uint64_t offset, length;
};
struct Cachestat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

bool is_cached(int fd, std::uint64_t offset, std::uint64_t length) {
  CachestatRange range{offset, length};
  Cachestat stat{};
  if (::syscall(kCachestat, fd, &range, &stat, 0) != 0) return false;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return stat.cached >= (length + page - 1) / page;
}

struct File {
  Fd fd;
  std::string path;
  std::uint64_t size = 0;
};

struct Block {
  const File* file;
  std::uint64_t offset, length;
};

class Reading {
 public:
  Reading(const LoadFlags& flags, const ReadProgress& progress)
      : flags_{flags}, progress_{progress} {}

  Result<> add(const std::string& path) {
    File file{Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}, path, 0};
    struct stat info{};
    if (!file.fd || ::fstat(file.fd.get(), &info) != 0) return fail_errno("open " + path, errno);
    file.size = static_cast<std::uint64_t>(info.st_size);
    files_.push_back(std::move(file));
    return {};
  }

  void plan() {
    for (const File& file : files_) {
      for (std::uint64_t at = 0; at < file.size; at += kBlock) {
        const std::uint64_t length = std::min(kBlock, file.size - at);
        if (is_cached(file.fd.get(), at, length)) continue;
        blocks_.push_back({&file, at, length});
        total_ += Bytes{length};
      }
    }
  }

  Result<> run() {
    if (blocks_.empty()) return {};
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([this] { read_blocks(); });
    threads.clear();
    if (error_ != 0) return fail_errno("read " + failed_path_, error_, ErrorCode::kUnavailable);
    return {};
  }

 private:
  void read_blocks() {
    const pid_t thread = ::gettid();
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), kNice);  // of this thread alone
    bool idle = flags_.idle;
    if (idle) become_idle();
    std::vector<char> buffer(kBlock);
    while (!flags_.give_up.load(std::memory_order_relaxed)) {
      if (idle && !flags_.idle) {
        idle = false;
        come_back({&thread, 1});
      }
      const std::size_t i = next_.fetch_add(1);
      if (i >= blocks_.size()) return;
      read_block(blocks_[i], buffer);
    }
  }

  void read_block(const Block& block, std::vector<char>& buffer) {
    std::uint64_t done = 0;
    while (done < block.length) {
      const ssize_t n = ::pread(block.file->fd.get(), buffer.data(), block.length - done,
                                static_cast<off_t>(block.offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed(*block.file, errno);
      if (n == 0) break;  // the file became shorter; the engine will say so
      done += static_cast<std::uint64_t>(n);
    }
    std::lock_guard lock{mutex_};
    done_ += Bytes{block.length};
    if (progress_) progress_(done_, total_);
  }

  void failed(const File& file, int error) {
    std::lock_guard lock{mutex_};
    error_ = error;
    failed_path_ = file.path;
    next_ = blocks_.size();
  }

  const LoadFlags& flags_;
  const ReadProgress& progress_;
  std::vector<File> files_;
  std::vector<Block> blocks_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // the members below
  Bytes done_, total_;
  int error_ = 0;
  std::string failed_path_;
};

}  // namespace

Result<> read_missing_pages(const std::vector<std::string>& paths, const LoadFlags& flags,
                            const ReadProgress& progress) {
  Reading reading{flags, progress};
  for (const std::string& path : paths) {
    if (auto added = reading.add(path); !added) return added;
  }
  reading.plan();
  return reading.run();
}

}  // namespace hearth::worker
