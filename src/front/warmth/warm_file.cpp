// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/log.h"
#include "front/prewarm/kept_text.h"
#include "front/warmth/warm_keeper.h"
#include "front/warmth/warm_model.h"

namespace hearth::front {
namespace {

constexpr Bytes kMostOfFile{std::uint64_t{16} << 20};

}  // namespace

void WarmKeeper::load() {
  const std::optional<std::string> text = read_kept(world_.files, world_.path, kMostOfFile);
  if (!text) return;
  Result<WarmBook> book = warm_book_from_json(*text);
  if (!book) {
    set_aside(world_.files, world_.path, book.error().message());
    return;
  }
  time_ = LastingTime{this_boot(), book->time};
  others_ = std::move(book->models);
  // A time of the future would never be idle.
  for (auto& [artifact, notes] : others_) {
    if (notes.claim.touched) notes.claim.touched = std::min(*notes.claim.touched, now());
  }
}

std::map<std::string, WarmNotes> WarmKeeper::notes() const {
  std::map<std::string, WarmNotes> all;
  for (const auto& [artifact, model] : models_) all[artifact] = model->notes();
  for (const auto& [artifact, notes] : others_) {
    if (all.size() < WarmBook::kMostModels) all.emplace(artifact, notes);
  }
  return all;
}

Task<void> WarmKeeper::save(Pool& pool) {
  const std::uint64_t version = version_;
  if (saving_ || version == saved_) co_return;
  saving_ = true;
  now();
  WarmBook book{time_.notes(), notes()};
  auto job = [&files = world_.files, path = world_.path, book = std::move(book)] {
    return write_kept(files, path, to_json(book));
  };
  const Result<> written = co_await pool.run(world_.loop, std::move(job));
  saving_ = false;
  if (written) saved_ = version;
  if (!written) log::warn("warmth.not_written", {{"reason", written.error().message()}});
}

}  // namespace hearth::front
