// SPDX-License-Identifier: Apache-2.0
#include "cli/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"

namespace hearth::cli {

Result<Fd> claim_data_directory(const std::string& path) {
  if (auto made = Files::real().make_directories(path, 0700); !made) {
    return Failed{std::move(made).error()};
  }
  const std::string lock_path = path + "/lock";
  Fd lock{::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (!lock) return fail_errno("open " + lock_path, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail_errno("lock " + lock_path, errno);
    std::string holder = read_small_file(lock_path);
    while (!holder.empty() && holder.back() == '\n') holder.pop_back();
    return fail(ErrorCode::kConflict,
                "another Hearth (pid " + holder + ") uses the data directory " + path);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock.get(), 0) != 0 ||
      ::pwrite(lock.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return fail_errno("write " + lock_path, errno);
  }
  return lock;
}

}  // namespace hearth::cli
