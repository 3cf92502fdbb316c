// SPDX-License-Identifier: Apache-2.0
#include "front/file_notices.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/log.h"

namespace hearth::front {
namespace {

// File systems whose files others can change without this kernel's knowing, by statfs(2).
constexpr std::array<std::uint32_t, 9> kShared{
    0x00006969,  // NFS
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x0000517b,  // SMB
    0x65735546,  // FUSE
    0x01021997,  // 9P
    0x00c36400,  // Ceph
    0x5346414f,  // AFS
    0x0bd00bd0,  // Lustre
};

bool is_shared(const Fd& file) {
  struct statfs about{};
  if (::fstatfs(file.get(), &about) != 0) return true;
  return std::ranges::find(kShared, static_cast<std::uint32_t>(about.f_type)) != kShared.end();
}

class Inotify : public FileNotices {
 public:
  explicit Inotify(const std::vector<Fd>& files)
      : queue_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)} {
    tells_all_ = static_cast<bool>(queue_);
    for (const Fd& file : files) {
      tells_all_ = tells_all_ && watch(file) && !is_shared(file);
    }
  }

  News take() override {
    News news;
    alignas(inotify_event) std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t count = queue_ ? ::read(queue_.get(), buffer.data(), buffer.size()) : 0;
      if (count <= 0) return news;
      add(news, buffer.data(), static_cast<std::size_t>(count));
    }
  }

  bool tells_all() const override { return tells_all_; }

 private:
  // By descriptor: the file that is open, even where its name leads elsewhere by now.
  bool watch(const Fd& file) const {
    constexpr std::uint32_t kChanges = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF;
    const std::string path = fmt::format("/proc/self/fd/{}", file.get());
    return ::inotify_add_watch(queue_.get(), path.c_str(), kChanges) >= 0;
  }

  static void add(News& news, const char* events, std::size_t size) {
    inotify_event event;
    for (std::size_t at = 0; at + sizeof event <= size; at += sizeof event + event.len) {
      std::memcpy(&event, events + at, sizeof event);
      // Where events were lost, one of them may have told of a write.
      if ((event.mask & (IN_MODIFY | IN_Q_OVERFLOW)) != 0) news.written = true;
      if ((event.mask & (IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)) != 0) news.renamed = true;
    }
  }

  Fd queue_;
  bool tells_all_ = false;
};

}  // namespace

std::unique_ptr<FileNotices> kernel_notices(const std::vector<Fd>& files) {
  auto notices = std::make_unique<Inotify>(files);
  if (!notices->tells_all()) {
    log::debug("files.not_watched",
               {{"reason", "no inotify for them; they are looked at after each reply"}});
  }
  return notices;
}

}  // namespace hearth::front
