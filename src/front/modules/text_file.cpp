// SPDX-License-Identifier: Apache-2.0
#include "front/modules/text_file.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace hearth::front {

Result<std::string> read_text_file(const Files& files, const std::string& path, Bytes most) {
  Result<Fd> file = files.open_read(path);
  if (!file) return Failed{std::move(file).error()};
  const Result<FileInfo> info = files.info(*file);
  if (!info) return Failed{info.error()};
  if (info->kind != FileKind::kRegular) {
    return fail(ErrorCode::kInvalid, path + ": this is no regular file");
  }
  if (info->size > most) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: {} bytes are too many, {} are allowed", path,
                                                 info->size.count(), most.count()));
  }
  std::string text(info->size.count(), '\0');
  const Result<std::size_t> read = files.read_at(*file, 0, std::as_writable_bytes(std::span{text}));
  if (!read) return Failed{read.error()};
  text.resize(*read);
  return text;
}

}  // namespace hearth::front
