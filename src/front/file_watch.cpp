// SPDX-License-Identifier: Apache-2.0
#include "front/file_watch.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

namespace hearth::front {
namespace {

FileInfo info_of(const Files& files, const Fd& file) {
  return files.info(file).value_or(FileInfo{});
}

}  // namespace

Error files_written_error() {
  return Error{ErrorCode::kUnavailable,
               "the model's file was overwritten or cut while it was in use, so what was made from "
               "it is not to be trusted; wait until nobody writes to the file, then ask again"};
}

FileWatch::FileWatch(const Files& files, Watched watched, const OpenNotices& notices)
    : files_{files}, watched_{std::move(watched)}, notices_{notices(watched_.files)} {
  for (const Fd& file : watched_.files) noted_.push_back(info_of(files_, file));
}

Result<> FileWatch::expect(const std::vector<FileInfo>& known) const {
  for (std::size_t i = 0; i < known.size() && i < noted_.size(); ++i) {
    if (known[i].inode != 0 && known[i] != noted_[i]) {
      return fail(ErrorCode::kUnavailable,
                  "the model's file was changed or replaced just now; please ask again");
    }
  }
  return {};
}

void FileWatch::take_news() {
  const FileNotices::News news = notices_->take();
  written_ = written_ || news.written;
  if (news.renamed) ++renames_;
  if (!notices_->tells_all()) return;
  for (std::size_t i = 0; i < noted_.size(); ++i) compare(i, news);
}

void FileWatch::compare(std::size_t file, const FileNotices::News& news) {
  const FileInfo now = info_of(files_, watched_.files[file]);
  if (now == noted_[file]) return;
  const bool touched = news.renamed && now.size == noted_[file].size;
  written_ = written_ || !touched;
  noted_[file] = now;
}

bool FileWatch::written() {
  take_news();
  return written_;
}

std::uint64_t FileWatch::renames() {
  take_news();
  return renames_;
}

bool FileWatch::trusted() {
  take_news();
  return notices_->tells_all() && !written_ && renames_ == trusted_;
}

// Opening the name once more makes a network file system ask its server for what is true now.
bool FileWatch::differs() const {
  for (std::size_t i = 0; i < noted_.size(); ++i) {
    (void)files_.open_read(watched_.paths[i]);
    if (info_of(files_, watched_.files[i]) != noted_[i]) return true;
  }
  return false;
}

Task<Result<>> FileWatch::check(std::shared_ptr<FileWatch> watch, EventLoop& loop, Pool& pool) {
  if (!watch->written() && !watch->notices_->tells_all()) {
    auto job = [watch] { return watch->differs(); };
    const bool differs = co_await pool.run(loop, std::move(job));
    watch->written_ = watch->written_ || differs;
  }
  if (watch->written_) co_return Failed{files_written_error()};
  co_return Result<>{};
}

Result<WatchedFiles> open_watched(const Files& files, const std::vector<std::string>& paths,
                                  const std::vector<FileInfo>& known, const OpenNotices& notices) {
  WatchedFiles opened;
  FileWatch::Watched watched{paths, {}};
  for (const std::string& path : paths) {
    Result<Fd> file = files.open_read(path);
    if (!file) return Failed{std::move(file).error()};
    watched.files.emplace_back(::fcntl(file->get(), F_DUPFD_CLOEXEC, 0));
    if (!watched.files.back()) return fail_errno("open " + path + " twice", errno);
    opened.files.push_back(std::move(*file));
  }
  opened.watch = std::make_shared<FileWatch>(files, std::move(watched), notices);
  if (auto expected = opened.watch->expect(known); !expected)
    return Failed{std::move(expected).error()};
  return opened;
}

}  // namespace hearth::front
