// SPDX-License-Identifier: Apache-2.0
#include "front/rate_notes.h"

#include <span>
#include <utility>
#include <vector>

#include "base/log.h"
#include "policy/predictor_json.h"

namespace hearth::front {
namespace {

constexpr std::uint64_t kMostOfFile = std::uint64_t{8} << 20;

Result<std::string> read_text(const Files& files, const std::string& path) {
  Result<Fd> file = files.open_read(path);
  if (!file) return Failed{std::move(file).error()};
  const Result<FileInfo> info = files.info(*file);
  if (!info) return Failed{info.error()};
  if (info->size.count() > kMostOfFile) return fail(ErrorCode::kCorrupt, "it is too large");
  std::vector<std::byte> bytes(info->size.count());
  const Result<std::size_t> read = files.read_at(*file, 0, bytes);
  if (!read) return Failed{read.error()};
  return std::string{reinterpret_cast<const char*>(bytes.data()), *read};
}

Result<> write_text(const Files& files, const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  Result<Fd> file = files.open_write(fresh, Files::Create::kIfMissing);
  if (!file) return Failed{std::move(file).error()};
  Result<> done = files.resize(*file, Bytes{});
  if (done) done = files.write_at(*file, 0, std::as_bytes(std::span{text}));
  if (done) done = files.sync(*file);
  if (done) done = files.rename(fresh, path);
  return done;
}

}  // namespace

void RateNotes::load() {
  const Result<std::string> text = read_text(files_, path_);
  if (!text && text.error().code() == ErrorCode::kNotFound) return;
  Result<Predictor> read =
      text ? predictor_from_json(*text) : Result<Predictor>{Failed{text.error()}};
  if (!read) {
    log::warn("rates.not_read", {{"path", path_}, {"reason", read.error().message()}});
    return;
  }
  predictor_ = std::move(*read);
  saved_ = predictor_.version();
}

Task<void> RateNotes::save(EventLoop& loop, Pool& pool) {
  const std::uint64_t version = predictor_.version();
  if (saving_ || version == saved_) co_return;
  saving_ = true;
  auto job = [&files = files_, path = path_, text = to_json(predictor_)] {
    return write_text(files, path, text);
  };
  const Result<> written = co_await pool.run(loop, std::move(job));
  saving_ = false;
  if (written) saved_ = version;
  if (!written) log::warn("rates.not_written", {{"reason", written.error().message()}});
}

}  // namespace hearth::front
