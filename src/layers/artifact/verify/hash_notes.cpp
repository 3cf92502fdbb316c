// SPDX-License-Identifier: Apache-2.0
//
// A note: a line of magic, numbers of 64 bits as this machine has them, digests, and at the end a
// SHA-256 over all before it.
#include "layers/artifact/verify/hash_notes.h"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <string_view>

namespace hearth {
namespace {

using namespace literals;

constexpr std::string_view kMagic = "hearth hash 1\n";
constexpr std::string_view kPartsSuffix = ".parts";
constexpr std::string_view kLastSuffix = ".last";
constexpr std::string_view kRun = "run";
constexpr Bytes kMostOfNote = 64_MiB;  // 8 TiB of content

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
bool take(std::string_view& in, T& value) {
  if (in.size() < sizeof value) return false;
  std::memcpy(&value, in.data(), sizeof value);
  in.remove_prefix(sizeof value);
  return true;
}

void put_parts(std::string& out, const std::vector<Digest>& parts) {
  put(out, std::uint64_t{parts.size()});
  for (const Digest& part : parts) put(out, part);
}

std::optional<std::vector<Digest>> take_parts(std::string_view& in) {
  std::uint64_t count = 0;
  if (!take(in, count) || in.size() / sizeof(Digest) != count) return std::nullopt;
  std::vector<Digest> parts(count);
  for (Digest& part : parts) {
    if (!take(in, part)) return std::nullopt;
  }
  return parts;
}

std::string last_name(const std::string& path) {
  return hex_of(Sha256{}.add(path).finish()) + std::string{kLastSuffix};
}

}  // namespace

HashNotes::HashNotes(const Files& files, std::string directory)
    : files_{&files}, directory_{std::move(directory)} {}

std::string HashNotes::note_name(const std::string& path, const FileInfo& file) {
  const Digest digest = Sha256{}
                            .add(fmt::format("{} {} {} {}\n{}", file.device, file.inode,
                                             file.size.count(), file.modified_ns, path))
                            .finish();
  return hex_of(digest);
}

HashProgress HashNotes::unfinished(const std::string& path, const FileInfo& file) const {
  const std::optional<std::string> content = read(note_name(path, file));
  if (!content) return {};
  std::string_view in = *content;
  HashProgress progress;
  if (!take(in, progress.state.words) || !take(in, progress.state.bytes)) return {};
  std::optional<std::vector<Digest>> parts = take_parts(in);
  if (!parts) return {};
  progress.parts = std::move(*parts);
  return progress;
}

void HashNotes::keep(const std::string& path, const FileInfo& file,
                     const HashProgress& progress) const {
  std::string content;
  put(content, progress.state.words);
  put(content, progress.state.bytes);
  put_parts(content, progress.parts);
  write(note_name(path, file), std::move(content));
}

void HashNotes::forget(const std::string& path, const FileInfo& file) const {
  (void)files_->remove(directory_ + "/" + note_name(path, file));
}

std::optional<std::vector<Digest>> HashNotes::parts(const std::string& sha256) const {
  const std::optional<std::string> content = read(sha256 + std::string{kPartsSuffix});
  if (!content) return std::nullopt;
  std::string_view in = *content;
  return take_parts(in);
}

void HashNotes::keep_parts(const std::string& sha256, const std::vector<Digest>& parts) const {
  std::string content;
  put_parts(content, parts);
  write(sha256 + std::string{kPartsSuffix}, std::move(content));
}

std::optional<std::string> HashNotes::last_content(const std::string& path) const {
  return read(last_name(path));
}

void HashNotes::keep_last(const std::string& path, const std::string& sha256) const {
  write(last_name(path), sha256);
}

std::int64_t HashNotes::run_began_us() const {
  const std::optional<std::string> content = read(std::string{kRun});
  if (!content) return 0;
  std::string_view in = *content;
  std::int64_t began_us = 0;
  return take(in, began_us) ? began_us : 0;
}

void HashNotes::keep_run(std::int64_t began_us) const {
  std::string content;
  put(content, began_us);
  write(std::string{kRun}, std::move(content));
}

void HashNotes::end_run() const { (void)files_->remove(directory_ + "/" + std::string{kRun}); }

std::vector<std::string> HashNotes::leftovers(const InUse& used) const {
  std::set<std::string> needed = used.unfinished;
  needed.emplace(kRun);
  for (const std::string& sha256 : used.contents) needed.insert(sha256 + std::string{kPartsSuffix});
  for (const std::string& path : used.paths) needed.insert(last_name(path));
  std::vector<std::string> left;
  const Result<std::vector<std::string>> names = files_->list(directory_);
  if (!names) return left;
  for (const std::string& name : *names) {
    if (!needed.contains(name)) left.push_back(directory_ + "/" + name);
  }
  return left;
}

// Renamed into place: there is never half a note, and one that a lost page spoiled is seen to be.
void HashNotes::write(const std::string& name, std::string content) const {
  content.insert(0, kMagic);
  put(content, Sha256{}.add(content).finish());
  const std::string path = directory_ + "/" + name;
  const std::string fresh = path + ".new";
  if (!files_->make_directories(directory_, 0700)) return;
  const Result<Fd> file = files_->open_write(fresh, Files::Create::kIfMissing);
  if (!file) return;
  const bool written = files_->resize(*file, Bytes{}).has_value() &&
                       files_->write_at(*file, 0, bytes_of(content)).has_value() &&
                       files_->rename(fresh, path).has_value();
  if (!written) (void)files_->remove(fresh);
}

std::optional<std::string> HashNotes::read(const std::string& name) const {
  const Result<Fd> file = files_->open_read(directory_ + "/" + name);
  if (!file) return std::nullopt;
  const Result<FileInfo> info = files_->info(*file);
  if (!info || info->kind != FileKind::kRegular || info->size > kMostOfNote) return std::nullopt;
  std::string content(info->size.count(), '\0');
  const Result<std::size_t> got =
      files_->read_at(*file, 0, std::as_writable_bytes(std::span{content}));
  const std::size_t frame = kMagic.size() + sizeof(Digest);
  if (!got || *got != content.size() || content.size() < frame) return std::nullopt;
  if (!content.starts_with(kMagic)) return std::nullopt;
  Digest promised;
  const std::size_t end = content.size() - sizeof promised;
  std::memcpy(promised.data(), content.data() + end, sizeof promised);
  content.resize(end);
  if (Sha256{}.add(content).finish() != promised) return std::nullopt;
  return content.substr(kMagic.size());
}

}  // namespace hearth
