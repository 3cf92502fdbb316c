// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/journal.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "lab/machine/processes.h"
#include "lab/machine/undo.h"

namespace hearth::lab {
namespace {

constexpr std::array<std::string_view, 5> kKinds{"end_process", "read_back", "remove_tree",
                                                 "remove_group", "unpin"};

std::string line_of(const Undo& undo) {
  const boost::json::object line{{"kind", kKinds[static_cast<std::size_t>(undo.kind)]},
                                 {"subject", undo.subject},
                                 {"detail", undo.detail}};
  return boost::json::serialize(line) + '\n';
}

std::optional<Undo> undo_of(std::string_view line) {
  const auto parsed = parse_json(line);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return std::nullopt;
  const auto text = [&](std::string_view key) -> std::string_view {
    const auto* value = object->if_contains(key);
    const auto* found = value == nullptr ? nullptr : value->if_string();
    return found == nullptr ? std::string_view{} : std::string_view{*found};
  };
  for (std::size_t n = 0; n < kKinds.size(); ++n) {
    if (text("kind") != kKinds[n]) continue;
    return Undo{static_cast<Undo::Kind>(n), std::string{text("subject")},
                std::string{text("detail")}};
  }
  return std::nullopt;
}

// A last line without its end was cut off before it was promised.
std::vector<Undo> undos_of(std::string_view text) {
  std::vector<Undo> found;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    if (auto undo = undo_of(text.substr(0, end))) found.push_back(std::move(*undo));
    text.remove_prefix(end + 1);
  }
  return found;
}

bool is_locked(const Fd& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

}  // namespace

Journal::Journal(const Files& files, std::string path, Fd file)
    : files_{&files}, path_{std::move(path)}, file_{std::move(file)} {}

Result<Journal> Journal::open(const Files& files, const std::string& directory) {
  if (Result<> made = files.make_directories(directory, 0700); !made) {
    return Failed{std::move(made).error()};
  }
  const pid_t self = ::getpid();
  for (int number = 0; number < 1000; ++number) {
    std::string path =
        fmt::format("{}/{}-{}-{}.undo", directory, self, start_time_of(self), number);
    Result<Fd> file = files.open_write(path, Files::Create::kAlways);
    if (!file && file.error().code() == ErrorCode::kConflict) continue;
    if (!file) return Failed{std::move(file).error()};
    // Somebody who puts stale ones back was faster, and takes it away.
    if (!is_locked(*file)) continue;
    if (Result<> synced = files.sync_directory(directory); !synced) {
      return Failed{std::move(synced).error()};
    }
    return Journal{files, std::move(path), std::move(*file)};
  }
  return fail(ErrorCode::kUnavailable, directory + ": too many journals");
}

Result<> Journal::add(const Undo& undo) {
  const Result<FileInfo> info = files_->info(file_);
  if (!info) return Failed{info.error()};
  const std::string line = line_of(undo);
  const Result<> written =
      files_->write_at(file_, info->size.count(), std::as_bytes(std::span{line}));
  if (!written) {
    // Half a line would spoil the next one.
    (void)files_->resize(file_, info->size);
    return written;
  }
  entries_.push_back(undo);
  return files_->sync(file_);
}

Result<std::string> Journal::make_tree(const std::string& parent) {
  std::string tree = fmt::format("{}/{}{}-XXXXXX", parent, kTreePrefix, ::getpid());
  if (::mkdtemp(tree.data()) == nullptr) return fail_errno("make a directory in " + parent, errno);
  const Result<> noted = add({Undo::Kind::kRemoveTree, tree, {}});
  if (noted) return tree;
  (void)::rmdir(tree.c_str());
  return Failed{noted.error()};
}

std::vector<std::string> Journal::put_back() {
  std::vector<std::string> failed;
  for (; !entries_.empty(); entries_.pop_back()) {
    if (auto done = undo(*files_, entries_.back()); !done) failed.push_back(done.error().message());
  }
  (void)files_->remove(path_);
  return failed;
}

std::vector<std::string> Journal::put_back_stale(const Files& files, const std::string& directory) {
  std::vector<std::string> told;
  for (const std::string& name : files.list(directory).value_or(std::vector<std::string>{})) {
    const std::string path = directory + '/' + name;
    if (!name.ends_with(".undo")) continue;
    Result<Fd> file = files.open_write(path, Files::Create::kNever);
    if (!file || !is_locked(*file)) continue;
    Journal stale{files, path, std::move(*file)};
    stale.entries_ = undos_of(read_small_file(path));
    for (; !stale.entries_.empty(); stale.entries_.pop_back()) {
      const Result<std::string> done = undo(files, stale.entries_.back());
      if (!done) told.push_back(done.error().message());
      if (done && !done->empty()) told.push_back(*done);
    }
    (void)files.remove(path);
  }
  return told;
}

std::string Journal::usual_directory() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string{state} + "/hearth/lab";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string{home} + "/.local/state/hearth/lab";
  return "/var/lib/hearth/lab";
}

}  // namespace hearth::lab
