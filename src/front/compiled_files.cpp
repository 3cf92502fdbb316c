// SPDX-License-Identifier: Apache-2.0
#include "front/compiled_files.h"

#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/sha256.h"
#include "base/size_text.h"

namespace hearth::front {
namespace {

constexpr std::string_view kEnding = ".repack";
constexpr std::string_view kPart = ".repack.part";
constexpr std::size_t kDigits = 32;

// The digest of a name of ours; empty for any other.
std::string_view digest_in(std::string_view name, std::string_view ending) {
  if (name.size() != kDigits + ending.size() || !name.ends_with(ending)) return {};
  const std::string_view digest = name.substr(0, kDigits);
  const bool hex = digest.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return hex ? digest : std::string_view{};
}

}  // namespace

std::string CompiledFiles::path_of(const repack::Key& key) const {
  Sha256 digest;
  for (const std::string* part :
       {&key.content, &key.engine, &key.driver, &key.hardware, &key.layout}) {
    digest.add(std::to_string(part->size())).add(":").add(*part);
  }
  return directory_ + "/" + hex_of(digest.finish()).substr(0, kDigits) + std::string{kEnding};
}

std::vector<CompiledFile> CompiledFiles::sweep() const {
  std::vector<CompiledFile> kept;
  const Result<std::vector<std::string>> names = files_.list(directory_);
  if (!names) return kept;
  for (const std::string& name : *names) {
    const std::string path = directory_ + "/" + name;
    if (!digest_in(name, kPart).empty()) (void)files_.remove(path);
    if (digest_in(name, kEnding).empty()) continue;
    Result<Opened> opened = open(CompiledFile{path, {}, {}});
    const bool named = opened && path_of(opened->found.table.key) == path;
    if (named) {
      kept.push_back(std::move(opened->found));
      continue;
    }
    log::warn(
        "compiled.removed",
        {{"file", name}, {"reason", opened ? "its name is another's" : opened.error().message()}});
    (void)files_.remove(path);
  }
  return kept;
}

Result<CompiledFiles::Draft> CompiledFiles::begin(const repack::Key& key, Bytes size) const {
  if (Result<> made = files_.make_directories(directory_, 0700); !made) {
    return Failed{std::move(made).error()};
  }
  const Result<Space> space = files_.space(directory_);
  if (space && space->free < size + kSpare) {
    return fail(ErrorCode::kNoSpace, "the disk has " + size_text(space->free) +
                                         " left, and a stored repack takes " + size_text(size));
  }
  Draft draft{path_of(key) + ".part", {}};
  (void)files_.remove(draft.path);
  Result<Fd> file = files_.open_write(draft.path, Files::Create::kAlways);
  if (!file) return Failed{std::move(file).error()};
  draft.file = std::move(*file);
  return draft;
}

Result<CompiledFile> CompiledFiles::publish(const std::string& path, const repack::Key& key) const {
  const auto give_up = [&](const Error& error) {
    (void)files_.remove(path);
    return Failed{error};
  };
  Result<Opened> opened = open(CompiledFile{path, {}, {key, {}, {}}});
  if (!opened) return give_up(opened.error());
  CompiledFile whole = std::move(opened->found);
  whole.path = path_of(key);
  if (const Result<> named = files_.rename(path, whole.path); !named) return give_up(named.error());
  if (const Result<> synced = files_.sync_directory(directory_); !synced) {
    (void)files_.remove(whole.path);
    return Failed{synced.error()};
  }
  return whole;
}

Result<CompiledFiles::Opened> CompiledFiles::open(const CompiledFile& known) const {
  Result<Fd> file = files_.open_read(known.path);
  if (!file) return Failed{std::move(file).error()};
  const Result<FileInfo> info = files_.info(*file);
  if (!info) return Failed{info.error()};
  if (info->kind != FileKind::kRegular) return fail(ErrorCode::kCorrupt, "it is no file");
  if (*info == known.file) return Opened{std::move(*file), known};
  Result<repack::Table> table = repack::read_table(files_, *file);
  if (!table) return Failed{std::move(table).error()};
  const bool any = known.table.key == repack::Key{};
  const std::string_view other = any ? "" : repack::difference(table->key, known.table.key);
  if (!other.empty()) {
    return fail(ErrorCode::kCorrupt, "it belongs to another " + std::string{other});
  }
  return Opened{std::move(*file), CompiledFile{known.path, *info, std::move(*table)}};
}

FileInfo CompiledFiles::touch(const CompiledFile& known, std::int64_t now_ns) const {
  const Result<Fd> file = files_.open_write(known.path, Files::Create::kNever);
  if (!file) return known.file;
  const Result<FileInfo> before = files_.info(*file);
  if (!before || *before != known.file) return known.file;
  (void)files_.set_modified(*file, now_ns);
  return files_.info(*file).value_or(known.file);
}

Result<> CompiledFiles::remove(const std::string& path) const {
  Result<> removed = files_.remove(path);
  if (!removed && removed.error().code() == ErrorCode::kNotFound) return {};
  return removed;
}

}  // namespace hearth::front
