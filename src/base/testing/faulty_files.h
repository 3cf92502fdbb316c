// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/testing/forwarding_files.h"

namespace hearth::testing {

// The real file system with bad luck, the same for the same seed: calls fail, and a power cut takes
// away what was never synced. Thread-safe; see power_cut() for what it asks of a test.
//
// Content comes back sector by sector, each as it was at the last sync or as it is now. Names come
// back in the order they were given, as on a journalling file system: some of the last creations,
// renames and removals since the last sync of a directory did not happen.
class FaultyFiles : public ForwardingFiles {
 public:
  // Of a thousand calls that could fail so.
  struct Faults {
    int no_space = 0;  // writing, taking room, creating
    int io_error = 0;  // everything but advice; a failed sync loses what it was for
  };

  // What is removed waits in `graveyard`, an existing directory on the same device.
  FaultyFiles(std::uint64_t seed, std::string graveyard)
      : graveyard_{std::move(graveyard)}, random_{seed} {}

  void set_faults(Faults faults) {
    const std::lock_guard lock{mutex_};
    faults_ = faults;
  }
  // The n-th call from now that changes something fails, counted from 1. Before it: as ever.
  void fail_change(int n, ErrorCode code) {
    const std::lock_guard lock{mutex_};
    changes_left_ = n;
    failing_code_ = code;
  }
  // Everything written from now on takes from this, until there is no space.
  void set_room(Bytes room) {
    const std::lock_guard lock{mutex_};
    room_ = room;
  }
  int changes() const {
    const std::lock_guard lock{mutex_};
    return changes_;
  }

  // No call may be under way. Descriptors of before are not to be used again.
  void power_cut() {
    const std::lock_guard lock{mutex_};
    for (Written& file : files_) lose_content(file);
    files_.clear();
    std::size_t lost = names_.empty() ? 0 : random_.next() % (names_.size() + 1);
    for (; lost > 0; --lost) {
      undo(names_.back());
      names_.pop_back();
    }
    names_.clear();
  }

  Result<Fd> open_read(const std::string& path) const override {
    if (const auto error = failing(Kind::kRead, "open " + path)) return Failed{*error};
    return ForwardingFiles::open_read(path);
  }
  Result<std::size_t> read_at(const Fd& file, std::uint64_t offset,
                              std::span<std::byte> into) const override {
    if (const auto error = failing(Kind::kRead, "read")) return Failed{*error};
    return ForwardingFiles::read_at(file, offset, into);
  }

  Result<Fd> open_write(const std::string& path, Create create) const override {
    const auto kind = create == Create::kNever ? Kind::kRead : Kind::kWrite;
    if (const auto error = failing(kind, "open " + path)) return Failed{*error};
    const bool was_there = exists(path);
    Result<Fd> file = ForwardingFiles::open_write(path, create);
    const std::lock_guard lock{mutex_};
    if (file && !was_there) names_.push_back({path, {}, {}});
    return file;
  }
  Result<> write_at(const Fd& file, std::uint64_t offset,
                    std::span<const std::byte> bytes) const override {
    auto error = failing(Kind::kWrite, "write");
    const std::lock_guard lock{mutex_};
    if (!error && Bytes{bytes.size()} > room_) {
      error = Error{ErrorCode::kNoSpace, "write: no space left on device"};
    }
    // What fails may have been done in part.
    const std::size_t part = error ? random_.next() % (bytes.size() + 1) : bytes.size();
    remember(file, offset, part);
    room_ = room_ - Bytes{part};
    Result<> written = ForwardingFiles::write_at(file, offset, bytes.first(part));
    if (error) return Failed{*error};
    return written;
  }
  Result<> resize(const Fd& file, Bytes size) const override {
    if (const auto error = failing(Kind::kWrite, "resize")) return Failed{*error};
    const std::lock_guard lock{mutex_};
    const Result<FileInfo> now = info(file);
    if (now) remember(file, size.count(), (now->size - size).count());
    return ForwardingFiles::resize(file, size);
  }
  Result<> allocate(const Fd& file, Bytes size) const override {
    if (const auto error = failing(Kind::kWrite, "take room")) return Failed{*error};
    return ForwardingFiles::allocate(file, size);
  }
  Result<> sync(const Fd& file) const override {
    const auto error = failing(Kind::kChange, "sync");
    const std::lock_guard lock{mutex_};
    Written& written = written_of(file);
    if (error) {
      for (auto& [at, sector] : written.sectors) sector.doomed = true;
      return Failed{*error};
    }
    std::erase_if(written.sectors, [](const auto& each) { return !each.second.doomed; });
    written.size.reset();
    return {};
  }
  Result<> sync_directory(const std::string& path) const override {
    if (const auto error = failing(Kind::kChange, "sync " + path)) return Failed{*error};
    const std::lock_guard lock{mutex_};
    std::size_t durable = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (parent(names_[i].now) == path || parent(names_[i].before) == path) durable = i + 1;
    }
    names_.erase(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(durable));
    return {};
  }
  Result<> rename(const std::string& from, const std::string& to) const override {
    if (const auto error = failing(Kind::kWrite, "rename " + from)) return Failed{*error};
    const std::lock_guard lock{mutex_};
    std::string grave = exists(from) ? bury(to) : std::string{};
    Result<> renamed = ForwardingFiles::rename(from, to);
    if (renamed) {
      names_.push_back({to, from, std::move(grave)});
    } else if (!grave.empty()) {
      undo({to, {}, grave});
    }
    return renamed;
  }
  Result<> remove(const std::string& path) const override {
    if (const auto error = failing(Kind::kChange, "remove " + path)) return Failed{*error};
    const std::lock_guard lock{mutex_};
    std::string grave = bury(path);
    if (grave.empty()) return ForwardingFiles::remove(path);
    names_.push_back({path, {}, std::move(grave)});
    return {};
  }
  void start_write_back(const Fd&, std::uint64_t, Bytes) const override {}
  void drop_cached(const Fd& file, std::uint64_t offset, Bytes size) const override {
    const std::lock_guard lock{mutex_};
    Written& written = written_of(file);
    auto& sectors = written.sectors;
    for (auto it = sectors.begin(); it != sectors.end();) {
      const bool gone =
          it->second.doomed && it->first >= offset && it->first < offset + size.count();
      if (gone) restore(written.file, it->first, it->second);
      it = gone ? sectors.erase(it) : std::next(it);
    }
  }

 private:
  static constexpr std::size_t kSector = 512;
  enum class Kind { kRead, kWrite, kChange };

  struct Sector {
    std::array<std::byte, kSector> before;
    bool doomed = false;  // a sync failed: the device has `before`, and no later sync helps
  };
  struct Written {
    ino_t inode = 0;
    Fd file;  // keeps the inode from being another file's
    std::map<std::uint64_t, Sector> sectors;
    std::optional<Bytes> size;  // at the last sync
  };
  // A creation (`now` alone), a rename (`before` to `now`) or a removal (`grave` and `now` alone).
  struct Name {
    std::string now;
    std::string before;
    std::string grave;  // where what was at `now` lies
  };

  std::optional<Error> failing(Kind kind, const std::string& attempt) const {
    const std::lock_guard lock{mutex_};
    if (kind != Kind::kRead) ++changes_;
    if (kind != Kind::kRead && --changes_left_ == 0) {
      return Error{failing_code_, attempt + ": failed on purpose"};
    }
    const int dice = static_cast<int>(random_.next() % 1000);
    if (dice < faults_.io_error) {
      return Error{ErrorCode::kUnavailable, attempt + ": input/output error"};
    }
    if (kind == Kind::kWrite && dice < faults_.io_error + faults_.no_space) {
      return Error{ErrorCode::kNoSpace, attempt + ": no space left on device"};
    }
    return std::nullopt;
  }

  Written& written_of(const Fd& file) const {
    const Result<FileInfo> found = info(file);
    const ino_t inode = found ? found->inode : 0;
    for (Written& written : files_) {
      if (written.inode == inode) return written;
    }
    files_.push_back({inode, {}, {}, {}});
    return files_.back();
  }

  // Saves what is about to be overwritten, unless it is saved already.
  void remember(const Fd& file, std::uint64_t offset, std::uint64_t count) const {
    Written& written = written_of(file);
    // Opened anew: a lock that the other one holds must not live on with this.
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    if (!written.file) written.file = Fd{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
    const Result<FileInfo> now = info(file);
    if (!written.size && now) written.size = now->size;
    for (std::uint64_t at = offset / kSector * kSector; at < offset + count; at += kSector) {
      const auto [it, is_new] = written.sectors.try_emplace(at);
      it->second.doomed = false;
      if (!is_new) continue;
      it->second.before = {};
      (void)ForwardingFiles::read_at(file, at, it->second.before);
    }
  }

  // Within the file as it is now.
  void restore(const Fd& file, std::uint64_t at, const Sector& sector) const {
    const Result<FileInfo> now = info(file);
    const std::uint64_t end = now ? now->size.count() : 0;
    if (at >= end) return;
    const std::size_t count = std::min<std::uint64_t>(kSector, end - at);
    (void)ForwardingFiles::write_at(file, at, std::span{sector.before}.first(count));
  }

  void lose_content(Written& file) const {
    if (file.file && file.size && random_.next() % 2 == 0) {
      (void)ForwardingFiles::resize(file.file, *file.size);
    }
    // Sometimes nothing had reached the device, sometimes nearly all of it.
    const std::uint64_t lost = random_.next() % 101;
    for (const auto& [at, sector] : file.sectors) {
      if (sector.doomed || random_.next() % 100 < lost) restore(file.file, at, sector);
    }
  }

  static bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
  }
  static std::string parent(const std::string& path) {
    return std::filesystem::path{path}.parent_path().string();
  }

  // Empty where there is no file to be buried. Directories are not brought back.
  std::string bury(const std::string& path) const {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return {};
    std::string grave = graveyard_ + "/" + std::to_string(++graves_);
    std::filesystem::rename(path, grave, error);
    return error ? std::string{} : grave;
  }

  void undo(const Name& name) const {
    std::error_code ignored;
    if (!name.before.empty()) {
      std::filesystem::rename(name.now, name.before, ignored);
    } else if (name.grave.empty()) {
      std::filesystem::remove(name.now, ignored);
    }
    if (!name.grave.empty()) std::filesystem::rename(name.grave, name.now, ignored);
  }

  const std::string graveyard_;
  mutable std::mutex mutex_;  // guards all below
  mutable Random random_;
  mutable std::vector<Written> files_;  // in the order they were first written to
  mutable std::vector<Name> names_;
  mutable int graves_ = 0;
  mutable int changes_ = 0;
  mutable int changes_left_ = std::numeric_limits<int>::max();
  mutable Bytes room_{std::numeric_limits<std::uint64_t>::max()};
  ErrorCode failing_code_ = ErrorCode::kUnavailable;
  Faults faults_;
};

}  // namespace hearth::testing
