// SPDX-License-Identifier: Apache-2.0
#include "lab/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <span>
#include <utility>

#include "base/json.h"
#include "lab/row_json.h"

namespace hearth::lab {
namespace {

constexpr const char* kInfo = "run.json";
constexpr const char* kRows = "rows.jsonl";
template <class Info, class Visit>
void visit_info(Info& info, Visit& visit) {
  visit("study", info.study);
  visit("started_wall_us", info.started_wall_us);
  visit("seed", info.seed);
  visit("model", info.model);
  visit("arms", info.arms);
  visit("about", info.about);
  visit("versions", info.versions);
  visit("left_out", info.left_out);
  visit("not_observable", info.not_observable);
}

// JSON inside of JSON is easier to read as what it is; what is none stays text.
void embed(boost::json::object& object, const char* name, const std::string& text) {
  if (text.empty()) return;
  const Result<boost::json::value> parsed = parse_json(text);
  object[name] = parsed ? *parsed : boost::json::value(repair_utf8(text));
}

std::string embedded(const boost::json::object& object, const char* name) {
  const boost::json::value* found = object.if_contains(name);
  if (found == nullptr) return {};
  return found->is_string() ? std::string{found->as_string()} : boost::json::serialize(*found);
}

std::string encode_info(const RunInfo& info) {
  MemberWriter members;
  visit_info(info, members);
  boost::json::object object = members.take();
  embed(object, "machine", info.machine);
  embed(object, "options", info.options);
  return boost::json::serialize(object) + "\n";
}

Result<RunInfo> decode_info(const std::string& text) {
  const Result<boost::json::value> parsed = parse_json(text);
  if (!parsed) return fail(ErrorCode::kCorrupt, parsed.error().message());
  if (!parsed->is_object()) return fail(ErrorCode::kCorrupt, "not a JSON object");
  RunInfo info;
  MemberReader members{parsed->as_object()};
  visit_info(info, members);
  if (!members.wrong().empty()) {
    return fail(ErrorCode::kCorrupt, "\"" + members.wrong() + "\" is of the wrong kind");
  }
  info.machine = embedded(parsed->as_object(), "machine");
  info.options = embedded(parsed->as_object(), "options");
  return info;
}

Result<std::string> whole(const Files& files, const std::string& path) {
  const Result<Fd> file = files.open_read(path);
  if (!file) return Failed{file.error()};
  const Result<FileInfo> info = files.info(*file);
  if (!info) return Failed{info.error()};
  std::string text(info->size.count(), '\0');
  const auto read = files.read_at(*file, 0, std::as_writable_bytes(std::span{text}));
  if (!read) return Failed{Error{read.error()}.during(path)};
  text.resize(*read);
  return text;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

// Content and name are on the device when it returns; there is never half of it under the name.
Result<> replace(const Files& files, const std::string& directory, const std::string& name,
                 const std::string& content) {
  const std::string path = directory + '/' + name;
  const std::string made = path + ".new";
  const Result<Fd> file = files.open_write(made, Files::Create::kIfMissing);
  if (!file) return Failed{file.error()};
  Result<> done = files.resize(*file, Bytes{0});
  if (done) done = files.write_at(*file, 0, bytes_of(content));
  if (done) done = files.sync(*file);
  if (done) done = files.rename(made, path);
  if (!done) (void)files.remove(made);
  if (done) done = files.sync_directory(directory);
  if (!done) return Failed{std::move(done).error().during("write " + path)};
  return {};
}

}  // namespace

RunDirectory::RunDirectory(const Files& files, std::string path, RunInfo info)
    : files_{&files}, path_{std::move(path)}, info_{std::move(info)} {}

Result<RunDirectory> RunDirectory::create(const Files& files, const std::string& path,
                                          const RunInfo& info) {
  RunDirectory run{files, path, info};
  run.made_directory_ = !files.info(path);
  const Result<> made = files.make_directories(path, 0755);
  if (!made) return Failed{made.error()};
  if (const Result<> locked = run.lock(); !locked) return Failed{locked.error()};
  const Result<std::vector<std::string>> names = files.list(path);
  if (!names) return Failed{names.error()};
  const bool has_run =
      std::ranges::any_of(*names, [](const auto& name) { return name == kInfo || name == kRows; });
  if (has_run) {
    return fail(ErrorCode::kConflict, path + " holds a run already; --resume goes on with it");
  }
  if (!names->empty()) {
    return fail(ErrorCode::kConflict,
                path + " is not empty, and what is in it is no run of the lab: name another one");
  }
  const Result<> written = replace(files, path, kInfo, encode_info(info));
  if (!written) return Failed{written.error()};
  return run;
}

// Of the directory itself: files in it are replaced.
Result<> RunDirectory::lock() {
  lock_ = Fd{::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!lock_ || ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return fail(ErrorCode::kConflict, path_ + ": another `hearth lab` writes there");
}

void RunDirectory::discard() {
  (void)files_->remove(path_ + '/' + kInfo);
  if (made_directory_) (void)files_->remove(path_);
}

Result<RunDirectory> RunDirectory::open(const Files& files, const std::string& path, Use use) {
  RunDirectory run{files, path, {}};
  if (use == Use::kGoOn) {
    if (const Result<> locked = run.lock(); !locked) return Failed{locked.error()};
  }
  const Result<std::string> about = whole(files, path + '/' + kInfo);
  if (!about && about.error().code() == ErrorCode::kNotFound) {
    return fail(ErrorCode::kNotFound, path + " holds no run of the lab: it has no run.json");
  }
  if (!about) return Failed{about.error()};
  Result<RunInfo> info = decode_info(*about);
  if (!info) return Failed{std::move(info).error().during(path + '/' + kInfo)};
  run.info_ = std::move(*info);
  const Result<> read = run.read_rows();
  if (!read) return Failed{read.error()};
  return run;
}

Result<> RunDirectory::read_rows() {
  const std::string path = path_ + '/' + kRows;
  const Result<std::string> text = whole(*files_, path);
  if (!text && text.error().code() == ErrorCode::kNotFound) return {};
  if (!text) return Failed{text.error()};
  int unread = 0;
  for (std::size_t line_end; end_ < text->size(); end_ = line_end + 1) {
    line_end = text->find('\n', end_);
    if (line_end == std::string::npos) {
      ++unread;
      break;
    }
    Result<Trial> row = decode_trial(text->substr(end_, line_end - end_));
    if (row) {
      rows_.push_back(std::move(*row));
    } else {
      ++unread;
    }
  }
  if (unread > 0) {
    info_.not_observable.push_back(
        fmt::format("rows that could not be read, such as one that was being written when the "
                    "machine stopped: {}",
                    unread));
  }
  written_ = rows_.size();
  return {};
}

Result<> RunDirectory::open_rows() {
  if (file_) return {};
  Result<Fd> file = files_->open_write(path_ + '/' + kRows, Files::Create::kIfMissing);
  if (!file) return Failed{file.error()};
  // What a crash cut off.
  const Result<> cut = files_->resize(*file, Bytes{end_});
  if (!cut) return cut;
  const Result<> named = files_->sync_directory(path_);
  if (!named) return named;
  file_ = std::move(*file);
  return {};
}

Result<> RunDirectory::add(const Trial& trial) {
  rows_.push_back(trial);
  return flush();
}

Result<> RunDirectory::flush() {
  Result<> done = write_rows();
  if (!info_is_written_) {
    const Result<> told = write(kInfo, encode_info(info_));
    info_is_written_ = told.has_value();
    if (done) done = told;
  }
  not_written_ = done ? std::string{} : done.error().message();
  return done;
}

Result<> RunDirectory::write_rows() {
  if (written_ == rows_.size()) return {};
  const Result<> opened = open_rows();
  if (!opened) return opened;
  std::string lines;
  for (std::size_t i = written_; i < rows_.size(); ++i) lines += encode(rows_[i]) + "\n";
  Result<> done = files_->write_at(file_, end_, bytes_of(lines));
  if (done) done = files_->sync(file_);
  if (!done) return Failed{std::move(done).error().during("write " + path_ + '/' + kRows)};
  end_ += lines.size();
  written_ = rows_.size();
  return {};
}

Result<> RunDirectory::update(const RunInfo& info) {
  info_ = info;
  info_is_written_ = false;
  return flush();
}

Result<> RunDirectory::write(const std::string& name, const std::string& content) {
  return replace(*files_, path_, name, content);
}

}  // namespace hearth::lab
