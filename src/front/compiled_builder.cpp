// SPDX-License-Identifier: Apache-2.0
#include "front/compiled_builder.h"

#include <utility>

#include "base/log.h"

namespace hearth::front {
namespace {

constexpr std::chrono::milliseconds kLook{500};

}  // namespace

void CompiledBuilder::want(const std::string& artifact) {
  wanted_[artifact] = {world_.loop.now(), world_.loop.now()};
  if (!working_ && !stopping_) world_.loop.spawn(work());
}

// A model whose weights went is not asked any more: its next load says so again.
bool CompiledBuilder::is_ready(const std::string& artifact, Wanted& wanted) {
  const ModelHost* host = world_.host(artifact);
  const TimePoint now = world_.loop.now();
  if (host->attached() > 0 || host->admission().waiting() > 0) wanted.busy_at = now;
  const bool quiet = now - wanted.busy_at >= kQuiet || now - wanted.since >= kPatience;
  return quiet && world_.content(artifact).has_value();
}

std::optional<std::string> CompiledBuilder::next_ready() {
  std::erase_if(wanted_, [this](const auto& each) {
    const ModelHost* host = world_.host(each.first);
    return host == nullptr || host->level() != WeightsLevel::kResident;
  });
  for (auto& [artifact, wanted] : wanted_) {
    if (is_ready(artifact, wanted)) return artifact;
  }
  return std::nullopt;
}

Task<void> CompiledBuilder::work() {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  working_ = true;
  while (!stopping_ && !wanted_.empty()) {
    const std::optional<std::string> next = next_ready();
    if (!next) {
      (void)co_await changed_.wait_until(world_.loop.now() + kLook);
      continue;
    }
    wanted_.erase(*next);
    std::string artifact = *next;
    (void)co_await build(std::move(artifact), StoreWish::kIfItPays);
  }
  working_ = false;
}

Task<Result<>> CompiledBuilder::build(std::string artifact, StoreWish wish) {
  const auto pass = tasks_.enter();
  while (building_ && !stopping_) co_await changed_.wait();
  if (!pass || stopping_) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  const ModelHost* host = world_.host(artifact);
  if (host == nullptr || host->level() != WeightsLevel::kResident || !host->ready()) {
    co_return fail(ErrorCode::kConflict, "the weights are not resident any more");
  }
  wire::CompileKey key = host->ready()->compile_key;
  const Bytes size = host->last_load()->loaded.memory.repacked;
  if (world_.store.stored(artifact, key) != nullptr) co_return Result<>{};
  building_ = true;
  std::string asked = artifact;
  auto draft = co_await world_.store.begin(std::move(asked), std::move(key), size, wish);
  Result<> done;
  if (draft) {
    std::string written = artifact;
    CompiledStore::Draft begun = std::move(*draft);
    done = co_await write(std::move(written), std::move(begun));
  } else {
    done = Failed{draft.error()};
  }
  building_ = false;
  changed_.notify_all();
  if (!done && !stopping_) {
    world_.store.set_note(artifact, "not stored: " + done.error().message());
    log::info("compiled.not_stored", {{"reason", done.error().message()}});
  }
  co_return done;
}

Task<Result<>> CompiledBuilder::write(std::string artifact, CompiledStore::Draft draft) {
  ModelHost* host = world_.host(artifact);
  if (host == nullptr) {
    co_await world_.store.give_up(std::move(draft));
    co_return fail(ErrorCode::kConflict, "the model went away");
  }
  Fd file = std::move(draft.file);
  std::string content = draft.key.content;
  const Result<wire::StoredMessage> stored =
      co_await host->store_repack(std::move(file), std::move(content));
  // The host may be gone from here on.
  if (!stored) {
    co_await world_.store.give_up(std::move(draft));
    co_return Failed{stored.error()};
  }
  co_return co_await world_.store.keep(std::move(draft));
}

Task<void> CompiledBuilder::stop() {
  stopping_ = true;
  changed_.notify_all();
  co_await tasks_.close();
}

}  // namespace hearth::front
