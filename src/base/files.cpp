// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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
                                        : FileKind::kOther;
  info.size = Bytes{static_cast<std::uint64_t>(status.st_size)};
  info.device = status.st_dev;
  info.inode = status.st_ino;
  info.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return info;
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
