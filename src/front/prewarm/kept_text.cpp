// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/kept_text.h"

#include <span>
#include <utility>
#include <vector>

#include "base/log.h"

namespace hearth::front {
namespace {

Result<std::string> read_text(const Files& files, const std::string& path, Bytes most) {
  Result<Fd> file = files.open_read(path);
  if (!file) return Failed{std::move(file).error()};
  const Result<FileInfo> info = files.info(*file);
  if (!info) return Failed{info.error()};
  if (info->kind != FileKind::kRegular) return fail(ErrorCode::kCorrupt, "it is not a plain file");
  if (info->size > most) return fail(ErrorCode::kCorrupt, "it is too large");
  std::vector<std::byte> bytes(info->size.count());
  const Result<std::size_t> read = files.read_at(*file, 0, bytes);
  if (!read) return Failed{read.error()};
  return std::string{reinterpret_cast<const char*>(bytes.data()), *read};
}

}  // namespace

std::optional<std::string> read_kept(const Files& files, const std::string& path, Bytes most) {
  Result<std::string> text = read_text(files, path, most);
  if (text) return std::move(*text);
  if (text.error().code() != ErrorCode::kNotFound) set_aside(files, path, text.error().message());
  return std::nullopt;
}

Result<> write_kept(const Files& files, const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  Result<Fd> file = files.open_write(fresh, Files::Create::kIfMissing);
  if (!file) return Failed{std::move(file).error()};
  Result<> done = files.resize(*file, Bytes{});
  if (done) done = files.write_at(*file, 0, std::as_bytes(std::span{text}));
  if (done) done = files.sync(*file);
  if (done) done = files.rename(fresh, path);
  return done;
}

void set_aside(const Files& files, const std::string& path, const std::string& reason) {
  const std::string aside = path + ".bad";
  const Result<> moved = files.rename(path, aside);
  log::warn("kept.not_read",
            {{"path", path}, {"reason", reason}, {"set_aside", moved ? aside : std::string{}}});
}

}  // namespace hearth::front
