// SPDX-License-Identifier: Apache-2.0
#include "front/verify/content_reader.h"

#include <utility>

namespace hearth::front {
namespace {

using namespace literals;

// What a kill costs at most, against what writing it down costs.
constexpr Bytes kNoteEvery = 256_MiB;

}  // namespace

Task<Result<FileHash>> ContentReader::open(Artifact::Shard file, Begin begin) {
  auto job = [this, file = std::move(file), begin]() -> Result<FileHash> {
    HashProgress from;
    if (begin == Begin::kWhereItWas) from = world_.notes.unfinished(file.path, file.file);
    return FileHash::open(world_.files, file.path, file.file, std::move(from));
  };
  co_return co_await world_.pool.run(world_.loop, std::move(job));
}

Task<Result<>> ContentReader::steps(Artifact::Shard file, FileHash& hash, ReadControl& control) {
  Bytes noted = hash.position();
  while (!hash.done()) {
    const bool go_on = co_await control.may_go_on();
    const bool note = hash.position() > noted && (!go_on || hash.position() >= noted + kNoteEvery);
    auto step = [this, &hash, &file, go_on, note]() -> Result<> {
      if (note) world_.notes.keep(file.path, file.file, hash.progress());
      return go_on ? hash.step() : Result<>{};
    };
    if (note) noted = hash.position();
    Result<> stepped = co_await world_.pool.run(world_.loop, std::move(step));
    if (!stepped) co_return stepped;
    if (!go_on) co_return fail(ErrorCode::kCancelled, "reading the file was put off");
    control.progressed(hash.position());
  }
  co_return Result<>{};
}

Task<Result<ContentReader::Read>> ContentReader::read(Artifact::Shard file, Begin begin,
                                                      ReadControl& control) {
  Result<FileHash> hash = co_await open(file, begin);
  if (!hash) co_return Failed{std::move(hash).error()};
  Read read;
  read.resumed = hash->position() > Bytes{};
  Result<> stepped = co_await steps(file, *hash, control);
  const bool later = !stepped && stepped.error().code() == ErrorCode::kCancelled;
  if (!later) {
    auto forget = [this, &file] { world_.notes.forget(file.path, file.file); };
    co_await world_.pool.run(world_.loop, std::move(forget));
  }
  if (!stepped) co_return Failed{std::move(stepped).error()};
  read.hashed = hash->finish();
  co_return std::move(read);
}

}  // namespace hearth::front
