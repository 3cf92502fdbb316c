// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

namespace hearth {
namespace {

FileInfo info_of(const struct stat& status) {
  FileInfo info;
  info.kind = S_ISREG(status.st_mode)   ? FileKind::kRegular
              : S_ISDIR(status.st_mode) ? FileKind::kDirectory
              : S_ISLNK(status.st_mode) ? FileKind::kLink
                                        : FileKind::kOther;
  info.size = Bytes{static_cast<std::uint64_t>(status.st_size)};
  info.device = status.st_dev;
  info.inode = status.st_ino;
  info.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return info;
}

// A quota is a disk that is full for us.
Failed fail_write(const std::string& attempt, int error) {
  return fail_errno(attempt, error == EDQUOT || error == EFBIG ? ENOSPC : error);
}

class RealFiles : public Files {
 public:
  Result<Fd> open_read(const std::string& path) const override {
    Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (!file) return fail_errno("open " + path, errno);
    return file;
  }

  Result<FileInfo> info(const std::string& path) const override {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return fail_errno("stat " + path, errno);
    return info_of(status);
  }

  Result<FileInfo> info(const Fd& file) const override {
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) return fail_errno("fstat", errno);
    return info_of(status);
  }

  Result<std::size_t> read_at(const Fd& file, std::uint64_t offset,
                              std::span<std::byte> into) const override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t n = ::pread(file.get(), into.data() + done, into.size() - done,
                                static_cast<off_t>(offset + done));
      if (n == 0) break;
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail_errno("read", errno);
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  Result<std::string> real_path(const std::string& path) const override {
    const std::unique_ptr<char, decltype(&std::free)> resolved{::realpath(path.c_str(), nullptr),
                                                               &std::free};
    if (!resolved) return fail_errno("resolve " + path, errno);
    return std::string{resolved.get()};
  }

  Result<std::vector<std::string>> list(const std::string& directory) const override {
    struct CloseDirectory {
      void operator()(DIR* open) const { ::closedir(open); }
    };
    const std::unique_ptr<DIR, CloseDirectory> open{::opendir(directory.c_str())};
    if (!open) return fail_errno("list " + directory, errno);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(open.get())) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<> make_directories(const std::string& path, mode_t mode) const override {
    for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
      const std::string part = path.substr(0, slash);
      if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST) {
        return fail_errno("create " + part, errno);
      }
      if (slash == std::string::npos) break;
    }
    // EEXIST is also what a file in the way gives.
    const Result<FileInfo> made = info(path);
    if (!made) return Failed{made.error()};
    if (made->kind != FileKind::kDirectory) return fail_errno("create " + path, ENOTDIR);
    return {};
  }

  Result<FileInfo> link_info(const std::string& path) const override {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) return fail_errno("stat " + path, errno);
    return info_of(status);
  }

  Result<Space> space(const std::string& path) const override {
    struct statvfs status{};
    if (::statvfs(path.c_str(), &status) != 0) return fail_errno("look at " + path, errno);
    const std::uint64_t block = status.f_frsize;
    return Space{Bytes{status.f_bavail * block}, Bytes{status.f_blocks * block}};
  }

  Result<Fd> open_write(const std::string& path, Create create) const override {
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;
    if (create != Create::kNever) flags |= O_CREAT;
    if (create == Create::kAlways) flags |= O_EXCL;
    Fd file{::open(path.c_str(), flags, 0600)};
    if (!file && errno == EEXIST) return fail(ErrorCode::kConflict, path + " is there already");
    if (!file) return fail_write("open " + path, errno);
    return file;
  }

  Result<> write_at(const Fd& file, std::uint64_t offset,
                    std::span<const std::byte> bytes) const override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::pwrite(file.get(), bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail_write("write", errno);
      done += static_cast<std::size_t>(n);
    }
    return {};
  }

  Result<> resize(const Fd& file, Bytes size) const override {
    if (::ftruncate(file.get(), static_cast<off_t>(size.count())) != 0) {
      return fail_write("resize", errno);
    }
    return {};
  }

  Result<> allocate(const Fd& file, Bytes size) const override {
    if (size == Bytes{}) return {};
    const auto length = static_cast<off_t>(size.count());
    int failed = 0;
    do {
      failed = ::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, length);
    } while (failed != 0 && errno == EINTR);
    if (failed == 0) return {};
    if (errno == EOPNOTSUPP || errno == ENOSYS) return {};
    return fail_write("take room", errno);
  }

  Result<> sync(const Fd& file) const override {
    if (::fsync(file.get()) != 0) return fail_write("sync", errno);
    return {};
  }

  Result<> sync_directory(const std::string& path) const override {
    const Fd directory{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY)};
    if (!directory || ::fsync(directory.get()) != 0) return fail_write("sync " + path, errno);
    return {};
  }

  Result<> rename(const std::string& from, const std::string& to) const override {
    if (::rename(from.c_str(), to.c_str()) != 0) return fail_write("rename " + from, errno);
    return {};
  }

  Result<> remove(const std::string& path) const override {
    if (::remove(path.c_str()) == 0) return {};
    if (errno == ENOTEMPTY || errno == EEXIST) {
      return fail(ErrorCode::kConflict, "remove " + path + ": it is not empty");
    }
    return fail_write("remove " + path, errno);
  }

  Result<> set_modified(const Fd& file, std::int64_t modified_ns) const override {
    constexpr std::int64_t kSecond = 1'000'000'000;
    const std::array<timespec, 2> times{timespec{0, UTIME_OMIT},
                                        timespec{modified_ns / kSecond, modified_ns % kSecond}};
    if (::futimens(file.get(), times.data()) != 0) return fail_write("date", errno);
    return {};
  }

  void read_ahead(const Fd& file, std::uint64_t offset, Bytes size) const override {
    (void)::posix_fadvise(file.get(), static_cast<off_t>(offset), static_cast<off_t>(size.count()),
                          POSIX_FADV_WILLNEED);
  }

  void start_write_back(const Fd& file, std::uint64_t offset, Bytes size) const override {
    (void)::sync_file_range(file.get(), static_cast<off_t>(offset),
                            static_cast<off_t>(size.count()), SYNC_FILE_RANGE_WRITE);
  }

  void drop_cached(const Fd& file, std::uint64_t offset, Bytes size) const override {
    const auto begin = static_cast<off_t>(offset);
    const auto length = static_cast<off_t>(size.count());
    (void)::sync_file_range(
        file.get(), begin, length,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    (void)::posix_fadvise(file.get(), begin, length, POSIX_FADV_DONTNEED);
  }
};

}  // namespace

const Files& Files::real() {
  static const RealFiles files;
  return files;
}

std::string read_small_file(const std::string& path) {
  std::ifstream in{path};
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

}  // namespace hearth
