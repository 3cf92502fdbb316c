// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/block_files.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/log.h"
#include "base/secure_random.h"

namespace hearth::front {
namespace {

namespace json = boost::json;

constexpr std::string_view kRecord{".kv"};
constexpr std::string_view kPart{".part"};
constexpr std::string_view kDomain{"domain.json"};
constexpr std::size_t kMostText = 1 << 16;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

Result<std::string> read_text(const Files& files, const std::string& path) {
  const Result<Fd> file = files.open_read(path);
  if (!file) return Failed{file.error()};
  std::string text(kMostText, '\0');
  const auto size = files.read_at(*file, 0, std::as_writable_bytes(std::span{text}));
  if (!size) return Failed{size.error()};
  text.resize(*size);
  return text;
}

std::optional<Digest> record_named(std::string_view name) {
  if (!name.ends_with(kRecord)) return std::nullopt;
  return digest_of_hex(name.substr(0, name.size() - kRecord.size()));
}

std::string text_of(const BlockDomain& domain) {
  return json::serialize(json::object{{"artifact", domain.artifact},
                                      {"content", domain.content},
                                      {"group", domain.group},
                                      {"fingerprint", domain.fingerprint},
                                      {"named", domain.named}});
}

Failed corrupt(std::string reason) { return fail(ErrorCode::kCorrupt, std::move(reason)); }

}  // namespace

Result<> check_record(std::span<const std::byte> record, const Digest& root, const Digest& digest) {
  if (record.size() < blocks::kHeaderSize) return corrupt("short");
  const Result<blocks::Header> header = blocks::decode(record.first(blocks::kHeaderSize));
  if (!header) return Failed{header.error()};
  if (header->root != root || header->digest != digest) return corrupt("another block");
  if (header->record_size() != Bytes{record.size()}) return corrupt("size");
  const auto base = record.subspan(blocks::kHeaderSize, header->base.count());
  const auto window = record.subspan(blocks::kHeaderSize + base.size());
  if (blocks::checksum_of(base) != header->base_checksum ||
      blocks::checksum_of(window) != header->window_checksum) {
    return corrupt("checksum");
  }
  return {};
}

Result<std::string> BlockFiles::secret() const {
  if (auto made = files_->make_directories(directory_, 0700); !made) return Failed{made.error()};
  const std::string path = directory_ + "/secret";
  const Result<std::string> known = read_text(*files_, path);
  if (known && digest_of_hex(*known)) return *known;
  if (known) log::warn("prefix.secret_replaced", {{"file", path}});
  if (!known && known.error().code() != ErrorCode::kNotFound) return known;
  std::array<unsigned char, 32> random{};
  if (auto filled = SecureRandom::kernel().fill(random); !filled) return Failed{filled.error()};
  const std::string made = hex_of(random);
  if (auto written = write_whole(path, bytes_of(made)); !written) return Failed{written.error()};
  if (auto synced = files_->sync_directory(directory_); !synced) return Failed{synced.error()};
  return made;
}

BlockFiles::Sweep BlockFiles::sweep(const std::string& secret) const {
  Sweep sweep;
  (void)files_->remove(directory_ + "/secret" + std::string{kPart});
  const auto names = files_->list(directory_);
  if (!names) return sweep;
  for (const std::string& name : *names) {
    const std::optional<Digest> root = digest_of_hex(name);
    if (!root) continue;
    Result<BlockDomain> domain = read_domain(*root, secret);
    if (domain) {
      sweep.domains.push_back(std::move(*domain));
      sweep_root(*root, sweep);
      remove_empty(*root);
    } else if (domain.error().code() != ErrorCode::kUnavailable) {
      ++sweep.refused["domain"];
      clear(*root);
    }
  }
  return sweep;
}

Result<BlockDomain> BlockFiles::read_domain(const Digest& root, const std::string& secret) const {
  const auto text = read_text(*files_, root_path(root) + "/" + std::string{kDomain});
  if (!text) return Failed{text.error()};
  const Result<json::value> value = parse_json(*text);
  if (!value || !value->is_object()) return corrupt("domain");
  const auto member = [&](std::string_view name) {
    const json::value* found = value->as_object().if_contains(name);
    return found != nullptr && found->is_string() ? std::string{found->as_string()} : std::string{};
  };
  BlockDomain domain{
      root,           member("artifact"), member("content"), member("group"), member("fingerprint"),
      member("named")};
  if (root_of(domain, secret) != root || domain.content.empty()) return corrupt("domain");
  return domain;
}

void BlockFiles::sweep_root(const Digest& root, Sweep& sweep) const {
  const std::string path = root_path(root) + "/";
  const auto names = files_->list(root_path(root));
  if (!names) return;
  for (const std::string& name : *names) {
    if (name.ends_with(kPart)) {
      (void)files_->remove(path + name);
      continue;
    }
    const std::optional<Digest> digest = record_named(name);
    const Result<FileInfo> info = digest ? files_->link_info(path + name)
                                         : Result<FileInfo>{fail(ErrorCode::kNotFound, "name")};
    if (!info) continue;
    if (info->kind != FileKind::kRegular || info->size < Bytes{blocks::kHeaderSize}) {
      ++sweep.refused["short"];
      (void)files_->remove(path + name);
      continue;
    }
    sweep.records.push_back({root, *digest, info->size, info->modified_ns / 1000});
  }
}

void BlockFiles::clear(const Digest& root) const {
  const auto names = files_->list(root_path(root));
  if (!names) return;
  for (const std::string& name : *names) {
    if (record_named(name) || name.ends_with(kPart)) {
      (void)files_->remove(root_path(root) + "/" + name);
    }
  }
  remove_empty(root);
}

Result<blocks::Header> BlockFiles::header(const Found& record) const {
  const Result<Fd> file = files_->open_read(path_of(record.root, record.digest));
  if (!file) return Failed{file.error()};
  std::array<std::byte, blocks::kHeaderSize> bytes{};
  const Result<std::size_t> size = files_->read_at(*file, 0, bytes);
  if (!size) return Failed{size.error()};
  Result<blocks::Header> header = blocks::decode(std::span{bytes}.first(*size));
  if (!header) return header;
  if (header->root != record.root || header->digest != record.digest) return corrupt("foreign");
  if (header->record_size() != record.size) return corrupt("short");
  return header;
}

Result<> BlockFiles::begin(const BlockDomain& domain) const {
  const std::string path = root_path(domain.root);
  if (files_->info(path + "/" + std::string{kDomain})) return {};
  if (auto made = files_->make_directories(path, 0700); !made) return made;
  const std::string file = path + "/" + std::string{kDomain};
  if (auto written = write_whole(file, bytes_of(text_of(domain))); !written) return written;
  if (auto synced = files_->sync_directory(path); !synced) return synced;
  return files_->sync_directory(directory_);
}

Result<> BlockFiles::save(const Digest& root, const Digest& digest,
                          std::span<const std::byte> record) const {
  if (auto right = check_record(record, root, digest); !right) return right;
  return write_whole(path_of(root, digest), record);
}

Result<> BlockFiles::write_whole(const std::string& path, std::span<const std::byte> bytes) const {
  const std::string part = path + std::string{kPart};
  (void)files_->remove(part);
  Result<> done = [&]() -> Result<> {
    const Result<Fd> file = files_->open_write(part, Files::Create::kAlways);
    if (!file) return Failed{file.error()};
    if (auto written = files_->write_at(*file, 0, bytes); !written) return written;
    if (auto synced = files_->sync(*file); !synced) return synced;
    return files_->rename(part, path);
  }();
  if (!done) (void)files_->remove(part);
  return done;
}

Result<> BlockFiles::sync(const Digest& root) const {
  return files_->sync_directory(root_path(root));
}

Result<Fd> BlockFiles::open(const Digest& root, const Digest& digest, Bytes size) const {
  Result<Fd> file = files_->open_read(path_of(root, digest));
  if (!file) return file;
  const Result<FileInfo> info = files_->info(*file);
  if (!info) return Failed{info.error()};
  if (info->kind != FileKind::kRegular || info->size != size) return corrupt("size");
  files_->read_ahead(*file, 0, size);
  return file;
}

Result<> BlockFiles::remove(const Digest& root, const Digest& digest) const {
  Result<> removed = files_->remove(path_of(root, digest));
  if (!removed && removed.error().code() == ErrorCode::kNotFound) return {};
  return removed;
}

void BlockFiles::remove_empty(const Digest& root) const {
  const std::string path = root_path(root);
  const auto names = files_->list(path);
  const bool empty =
      names && std::ranges::all_of(*names, [](const std::string& name) { return name == kDomain; });
  if (!empty) return;
  (void)files_->remove(path + "/" + std::string{kDomain});
  (void)files_->remove(path);
}

void BlockFiles::note_use(const Digest& root, const Digest& digest, std::int64_t used_us) const {
  const Result<Fd> file = files_->open_read(path_of(root, digest));
  if (file) (void)files_->set_modified(*file, used_us * 1000);
}

std::string BlockFiles::path_of(const Digest& root, const Digest& digest) const {
  return root_path(root) + "/" + hex_of(digest) + std::string{kRecord};
}

}  // namespace hearth::front
