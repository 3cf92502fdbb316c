// SPDX-License-Identifier: Apache-2.0
//
// ModelHost's eye on the files that its worker has open.
#include <utility>

#include "base/log.h"
#include "front/model_host.h"

namespace hearth::front {

Task<Result<>> ModelHost::check_files() {
  if (files_written_) co_return Failed{files_written_error()};
  if (!watch_) co_return Result<>{};  // the worker is gone, and whoever waits for it is told so
  std::shared_ptr<FileWatch> watch = watch_;
  Pool& pool = world_.disk != nullptr ? *world_.disk : world_.pool;
  Result<> right = co_await FileWatch::check(watch, world_.loop, pool);
  if (!right && watch == watch_ && worker_) worker_->end();
  co_return right;
}

std::uint64_t ModelHost::begin_look() { return watch_ ? watch_->renames() : 0; }

void ModelHost::end_look(std::uint64_t begun) {
  if (!watch_) return;
  watch_->trust(begun);
  if (watch_->written() && worker_) worker_->end();
}

// Of a worker that has just gone: true when its files are to blame, and not its code.
bool ModelHost::note_written() {
  const std::shared_ptr<FileWatch> watch = std::exchange(watch_, nullptr);
  if (!watch || !watch->written()) return false;
  files_written_ = true;
  failure_ = files_written_error();
  log::warn("worker.files_written", {{"model", model_.name}});
  return true;
}

}  // namespace hearth::front
