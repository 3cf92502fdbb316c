// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/competition.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "layers/pages/memory_room.h"

namespace hearth::lab {
namespace {

using namespace literals;

constexpr std::size_t kChunk = 1 << 20;
constexpr std::size_t kRecord = 8 << 10;

// ---- files ----

using Stop = std::function<bool()>;

Failed cancelled() { return fail(ErrorCode::kCancelled, "interrupted"); }

Result<> fill(const Files& files, const Fd& file, Bytes size, const Stop& stop) {
  std::vector<std::uint64_t> words(kChunk / sizeof(std::uint64_t));
  std::mt19937_64 engine{size.count()};
  for (std::uint64_t at = 0; at < size.count(); at += kChunk) {
    if (stop && stop()) return cancelled();
    for (std::uint64_t& word : words) word = engine();
    const std::size_t length = std::min<std::uint64_t>(kChunk, size.count() - at);
    const auto bytes = std::as_bytes(std::span{words}).first(length);
    if (Result<> written = files.write_at(file, at, bytes); !written) return written;
  }
  return files.sync(file);
}

struct WorkFile {
  Fd file;
  Bytes size;
};

// A file of about that size, of this run or an earlier one, with no page cached.
Result<WorkFile> work_file(const Files& files, const std::string& path, Bytes wanted,
                           const Stop& stop) {
  Result<Fd> file = files.open_write(path, Files::Create::kIfMissing);
  if (!file) return Failed{std::move(file).error()};
  const Result<FileInfo> info = files.info(*file);
  if (!info) return Failed{info.error()};
  Bytes size = info->size;
  if (size < Bytes{wanted.count() / 2} || size > wanted + wanted) {
    size = wanted;
    Result<> made = files.resize(*file, size);
    if (made) made = fill(files, *file, size, stop);
    if (!made) {
      file->reset();
      (void)files.remove(path);
      return Failed{std::move(made).error()};
    }
  }
  files.drop_cached(*file, 0, size);
  return WorkFile{std::move(*file), size};
}

// ---- threads that work until they are asked to stop ----

class Workers : public Competition {
 public:
  using Work = std::function<void(const std::stop_token&, std::atomic<std::uint64_t>&)>;

  Workers(int count, const Work& work) {
    for (int n = 0; n < count; ++n) {
      threads_.emplace_back([this, work](std::stop_token stop) { work(stop, done_); });
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  // All are told before one is waited for.
  ~Workers() override {
    for (std::jthread& thread : threads_) thread.request_stop();
  }
  Bytes done() const override { return Bytes{done_.load()}; }

 private:
  std::atomic<std::uint64_t> done_{0};
  std::vector<std::jthread> threads_;  // the last member: they use all others
};

struct Shared {
  const Files& files;
  Fd file;
  Bytes size;
};

// Work is copied into threads, hence shared by them; the last of them closes the file.
using SharedFile = std::shared_ptr<const Shared>;

// As a backup reads: all of it once, from the device. It starts anew with nothing cached.
void scan(const SharedFile& shared, const std::stop_token& stop, std::atomic<std::uint64_t>& done) {
  std::vector<std::byte> buffer(kChunk);
  for (std::uint64_t at = 0; !stop.stop_requested();) {
    const auto got = shared->files.read_at(shared->file, at, buffer);
    if (!got) return;
    at += *got;
    done += *got;
    if (*got == buffer.size()) continue;
    shared->files.drop_cached(shared->file, 0, shared->size);
    at = 0;
  }
}

// As a database that is larger than its cache: single records anywhere, one in sixteen written.
void look_up(const SharedFile& shared, const std::stop_token& stop,
             std::atomic<std::uint64_t>& done) {
  std::vector<std::byte> record(kRecord);
  std::mt19937_64 engine{std::hash<std::thread::id>{}(std::this_thread::get_id())};
  const std::uint64_t records = std::max<std::uint64_t>(1, shared->size.count() / kRecord);
  for (int n = 1; !stop.stop_requested(); ++n) {
    const std::uint64_t at = engine() % records * kRecord;
    if (!shared->files.read_at(shared->file, at, record)) return;
    done += kRecord;
    if (n % 16 != 0) continue;
    if (!shared->files.write_at(shared->file, at, record)) return;
    if (!shared->files.sync(shared->file)) return;
  }
}

void drain(int socket, const std::stop_token& stop) {
  std::vector<std::byte> buffer(kChunk);
  while (!stop.stop_requested() && ::read(socket, buffer.data(), buffer.size()) > 0) {
  }
}

// As a file server: read, sent through a socket, at the pace of a network.
void serve(const SharedFile& shared, double per_second, const std::stop_token& stop,
           std::atomic<std::uint64_t>& done) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  Fd ours{ends[0]};
  const Fd theirs{ends[1]};
  const std::jthread client{[&](std::stop_token end) { drain(theirs.get(), end); }};
  std::vector<std::byte> buffer(kChunk);
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t sent = 0;
  for (std::uint64_t at = 0; !stop.stop_requested();) {
    const auto got = shared->files.read_at(shared->file, at, buffer);
    if (!got) break;
    at = *got < buffer.size() ? 0 : at + *got;
    if (::send(ours.get(), buffer.data(), *got, MSG_NOSIGNAL) < 0) break;
    sent += *got;
    done += *got;
    const std::chrono::duration<double> due{static_cast<double>(sent) / per_second};
    std::this_thread::sleep_until(
        began + std::chrono::duration_cast<std::chrono::steady_clock::duration>(due));
  }
  ours.reset();  // the client sees the end
}

void compute(const std::stop_token& stop, std::atomic<std::uint64_t>& done) {
  std::uint64_t value = 1;
  while (!stop.stop_requested()) {
    for (int n = 0; n < 100'000; ++n) value = value * 6364136223846793005U + 1442695040888963407U;
    done.fetch_add(value != 0 ? 100'000 : 0, std::memory_order_relaxed);
  }
}

// ---- memory, taken by a process of its own, which the kernel ends before any other ----

// What happens in the child: only what is allowed between fork and exec of a threaded process.
[[noreturn]] void take_memory(int control, std::size_t size) {
  constexpr std::size_t kPage = 4096;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)::signal(signal, SIG_DFL);
  const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0 && ::write(score, "1000", 4) == 4) (void)::close(score);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) ::_exit(1);
  auto* bytes = static_cast<volatile unsigned char*>(memory);
  for (std::size_t at = 0; at < size; at += kPage)
    bytes[at] = static_cast<unsigned char>(at >> 12U);
  char ready = 1;
  if (::write(control, &ready, 1) != 1) ::_exit(1);
  (void)!::read(control, &ready, 1);  // returns at our end, however it came
  ::_exit(0);
}

void close_all_but(int kept) {
  // A child that lived on with our listening sockets or locks would keep them.
  if (kept > 3) (void)::close_range(3, static_cast<unsigned>(kept) - 1, 0);
  (void)::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
}

class Taken : public Competition {
 public:
  Taken(pid_t child, Fd control, Bytes size)
      : child_{child}, control_{std::move(control)}, size_{size} {}
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  Bytes done() const override { return size_; }

 private:
  pid_t child_;
  Fd control_;
  Bytes size_;
};

Result<std::unique_ptr<Competition>> taken(Bytes size, const Stop& stop) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail_errno("socketpair", errno);
  }
  Fd ours{ends[0]}, theirs{ends[1]};
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("fork", errno);
  if (child == 0) {
    close_all_but(theirs.get());
    take_memory(theirs.get(), size.count());
  }
  theirs.reset();
  const int control = ours.get();
  auto competition = std::make_unique<Taken>(child, std::move(ours), size);
  pollfd entry{control, POLLIN, 0};
  while (::poll(&entry, 1, 100) <= 0) {
    if (stop && stop()) return cancelled();
  }
  char ready = 0;
  if (::read(control, &ready, 1) == 1) return competition;
  return fail(ErrorCode::kUnavailable,
              fmt::format("{} MiB of memory could not be taken: the system "
                          "ended who took it",
                          size.count() >> 20U));
}

std::unique_ptr<Competition> file_work(Competitor competitor, SharedFile shared,
                                       double per_second) {
  switch (competitor) {
    case Competitor::kBackupScan:
      return std::make_unique<Workers>(
          1, [shared](const auto& stop, auto& done) { scan(shared, stop, done); });
    case Competitor::kDatabase:
      return std::make_unique<Workers>(
          2, [shared](const auto& stop, auto& done) { look_up(shared, stop, done); });
    default:
      return std::make_unique<Workers>(1, [shared, per_second](const auto& stop, auto& done) {
        serve(shared, per_second, stop, done);
      });
  }
}

}  // namespace

std::string_view name_of(Competitor competitor) {
  constexpr std::array<std::string_view, 5> kNames{"backup scan", "database", "file serving",
                                                   "processor", "memory"};
  return kNames[static_cast<std::size_t>(competitor)];
}

CompetitionSize CompetitionSize::usual(const Files& files, const std::string& directory) {
  const Result<Space> space = files.space(directory);
  const Bytes disk{space ? space->free.count() / 4 : 0};
  const Bytes room = memory_room(files).value_or(1_GiB);
  CompetitionSize size;
  size.backup = std::min({4_GiB, disk, room});
  size.database = std::min(1_GiB, disk);
  size.served = std::min(1_GiB, disk);
  size.memory = Bytes{room.count() / 3 * 2};
  return size;
}

Result<std::unique_ptr<Competition>> start_competition(const Files& files, Competitor competitor,
                                                       const std::string& directory,
                                                       const CompetitionSize& size,
                                                       const Stop& stop) {
  if (competitor == Competitor::kMemory) return taken(size.memory, stop);
  if (competitor == Competitor::kProcessor) {
    const auto count = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return std::make_unique<Workers>(count,
                                     [](const auto& ended, auto& done) { compute(ended, done); });
  }
  if (Result<> made = files.make_directories(directory, 0700); !made) {
    return Failed{std::move(made).error()};
  }
  const auto& [name, wanted] = [&]() -> std::pair<const char*, Bytes> {
    if (competitor == Competitor::kBackupScan) return {"backup.bin", size.backup};
    if (competitor == Competitor::kDatabase) return {"database.bin", size.database};
    return {"served.bin", size.served};
  }();
  if (wanted < Bytes{kChunk})
    return fail(ErrorCode::kNoSpace, directory + ": the disk is too full");
  Result<WorkFile> work = work_file(files, directory + '/' + name, wanted, stop);
  if (!work) return Failed{std::move(work).error()};
  auto shared = std::make_shared<const Shared>(files, std::move(work->file), work->size);
  return file_work(competitor, std::move(shared), size.served_per_second);
}

}  // namespace hearth::lab
