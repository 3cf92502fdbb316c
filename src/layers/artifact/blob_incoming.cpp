// SPDX-License-Identifier: Apache-2.0
//
// BlobStore's uploads.
#include <fmt/format.h>

#include <utility>

#include "base/sha256.h"
#include "layers/artifact/blob_errors.h"
#include "layers/artifact/blob_name.h"
#include "layers/artifact/blob_store.h"
#include "layers/artifact/source/source_text.h"

namespace hearth {
namespace {

using namespace literals;

constexpr int kMostAtOnce = 64;  // of the same blob
constexpr Bytes kWriteBack = 8_MiB;

}  // namespace

// The path is empty once the file is no longer this upload's.
struct BlobStore::Incoming::State {
  const BlobStore& store;
  std::string sha256;
  std::string path;
  Fd file;
  Sha256 hash{};
  Bytes written{};
  Bytes sent_back{};  // to the device
  Bytes has_room{};   // up to here there was room when it was looked for

  State(const BlobStore& store_, std::string sha256_) : store{store_}, sha256{std::move(sha256_)} {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!path.empty()) (void)store.files_->remove(path);
  }
};

BlobStore::Incoming::Incoming(std::unique_ptr<State> state) : state_{std::move(state)} {}
BlobStore::Incoming::Incoming(Incoming&&) noexcept = default;
BlobStore::Incoming& BlobStore::Incoming::operator=(Incoming&&) noexcept = default;
BlobStore::Incoming::~Incoming() = default;

Result<BlobStore::Incoming> BlobStore::receive(std::string_view sha256, Bytes size) const {
  if (!is_sha256(sha256)) {
    return fail(ErrorCode::kInvalid, "a SHA-256 has 64 hexadecimal digits");
  }
  if (auto room = require(size); !room) return Failed{std::move(room).error()};
  if (auto made = make(incoming_directory()); !made) return Failed{std::move(made).error()};
  for (int n = 0; n < kMostAtOnce; ++n) {
    std::string path = fmt::format("{}/{}.{}", incoming_directory(), sha256, n);
    Result<Fd> file = files_->open_write(path, Files::Create::kAlways);
    if (!file && file.error().code() == ErrorCode::kConflict) continue;
    if (!file) return not_stored(file.error(), directory_);
    auto state = std::make_unique<Incoming::State>(*this, std::string{sha256});
    state->path = std::move(path);
    state->file = std::move(*file);
    state->has_room = size;
    if (auto taken = files_->allocate(state->file, size); !taken) {
      return not_stored(taken.error(), directory_);
    }
    return Incoming{std::move(state)};
  }
  return fail(ErrorCode::kBusy, "too many uploads of the same blob at once");
}

Result<> BlobStore::Incoming::write(std::string_view bytes) {
  State& state = *state_;
  const Files& files = *state.store.files_;
  const Bytes grown = state.written + Bytes{bytes.size()};
  if (grown > state.has_room) {  // nobody has said how long it gets
    const Bytes next = grown - state.written + kWriteBack;
    if (auto room = state.store.require(next); !room) return room;
    state.has_room = state.written + next;
  }
  const auto raw = std::as_bytes(std::span{bytes});
  if (auto written = files.write_at(state.file, state.written.count(), raw); !written) {
    return not_stored(written.error(), state.store.directory_);
  }
  state.hash.add(bytes);
  state.written = grown;
  if (state.written - state.sent_back >= kWriteBack) {
    files.start_write_back(state.file, state.sent_back.count(), state.written - state.sent_back);
    state.sent_back = state.written;
  }
  return {};
}

Result<BlobStore::Blob> BlobStore::Incoming::finish() {
  State& state = *state_;
  const Digest digest = state.hash.finish();
  if (const std::string found = hex_of(digest); found != state.sha256) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the content is sha256:{}, not sha256:{}", found, state.sha256));
  }
  const Files& files = *state.store.files_;
  if (auto synced = files.sync(state.file); !synced) {
    return not_stored(synced.error(), state.store.directory_);
  }
  if (auto taken = state.store.take_in(state.path, state.sha256); !taken) {
    return Failed{std::move(taken).error()};
  }
  state.path.clear();
  files.drop_cached(state.file, 0, state.written);
  return state.store.blob(state.sha256);
}

Result<> BlobStore::sweep() const {
  const Result<std::vector<std::string>> names = files_->list(incoming_directory());
  if (!names && names.error().code() == ErrorCode::kNotFound) return {};
  if (!names) return Failed{names.error()};
  Result<> swept;
  for (const std::string& name : *names) {
    if (auto removed = files_->remove(incoming_directory() + "/" + name); !removed) {
      swept = not_stored(removed.error(), directory_);
    }
  }
  return swept;
}

}  // namespace hearth
