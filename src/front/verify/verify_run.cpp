// SPDX-License-Identifier: Apache-2.0
#include "front/verify/verify_run.h"

#include <algorithm>

#include "front/signed_count.h"

namespace hearth::front {
namespace {

std::string name_of_file(const Artifact& artifact, std::size_t index) {
  const std::vector<const Artifact::Shard*> all = artifact.files();
  const std::vector<Origin::File>& published = artifact.origin.files;
  if (published.size() == all.size()) return published[index].name;
  const std::string& path = all[index]->path;
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

void VerifyRun::add(VerifyWaiter& waiter) {
  waiters_.push_back(&waiter);
  for (const Verified& verified : verified_) waiter.tell(verified);
  if (!now_.stage.empty()) waiter.tell(now_);
}

void VerifyRun::remove(VerifyWaiter& waiter, VerifyWaiter::Left how) {
  std::erase(waiters_, &waiter);
  if (how == VerifyWaiter::Left::kDetached) detached_ = true;
}

void VerifyRun::tell(Verified verified, Bytes size) {
  done_ += size;
  files_before_ = file_done_ = Bytes{};
  for (VerifyWaiter* waiter : waiters_) waiter->tell(verified);
  verified_.push_back(std::move(verified));
}

void VerifyRun::progress(TransferProgress progress) {
  now_ = std::move(progress);
  told_at_ = loop_.now();
  for (VerifyWaiter* waiter : waiters_) waiter->tell(now_);
}

void VerifyRun::reading(const Artifact& artifact, std::size_t index) {
  const Artifact::Shard& file = *artifact.files()[index];
  files_before_ = Bytes{};
  for (std::size_t i = 0; i < index; ++i) files_before_ += artifact.files()[i]->file.size;
  file_done_ = Bytes{};
  TransferProgress next;
  next.stage = "verify";
  next.model = now_.model;
  next.file = name_of_file(artifact, index);
  next.digest = file.sha256.empty() ? "" : "sha256:" + file.sha256;
  next.total = signed_count(file.file.size);
  next.all_done = signed_count(done_ + files_before_);
  next.all_total = signed_count(total_);
  progress(std::move(next));
}

void VerifyRun::progressed(Bytes done) {
  read_ += done - file_done_;
  file_done_ = done;
  if (loop_.now() < told_at_ + kLeastApart) return;
  TransferProgress next = now_;
  next.done = signed_count(done);
  next.all_done = signed_count(done_ + files_before_ + done);
  const double seconds = std::chrono::duration<double>(loop_.now() - began_).count();
  if (seconds > 0) next.bytes_per_s = static_cast<double>(read_.count()) / seconds;
  if (next.bytes_per_s > 0) {
    const auto left =
        static_cast<double>(std::max<std::int64_t>(0, next.all_total - next.all_done));
    next.eta_ms = left / next.bytes_per_s * 1000;
  }
  progress(std::move(next));
}

void VerifyRun::finish_with(const TransferEvent& last) {
  for (VerifyWaiter* waiter : std::exchange(waiters_, {})) waiter->finish(last);
}

void VerifyRun::finish() {
  TransferDone done;
  done.verified = verified_;
  for (const Verified& verified : verified_) done.bytes += verified.bytes;
  done.received = signed_count(received_);
  done.verify_ms = std::chrono::duration<double, std::milli>(loop_.now() - began_).count();
  finish_with(done);
}

void VerifyRun::finish(const Error& error) { finish_with(error); }

}  // namespace hearth::front
