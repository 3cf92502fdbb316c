// SPDX-License-Identifier: Apache-2.0
#include "api/responses/kept_responses.h"

#include <utility>

#include "base/log.h"

namespace hearth::api::responses {

KeptResponses::KeptResponses(EventLoop& loop, ResponseStore store)
    : loop_{loop}, store_{std::move(store)}, pool_{"responses", 1} {}

KeptResponses::KeptResponses(EventLoop& loop, ResponseStore store, Inline)
    : loop_{loop}, store_{std::move(store)}, pool_{Pool::inline_for_tests()} {}

Result<std::unique_ptr<KeptResponses>> KeptResponses::open(EventLoop& loop, const Clock& clock,
                                                           const std::string& path) {
  auto store = ResponseStore::open(path, clock);
  if (!store) return Failed{std::move(store).error()};
  return std::make_unique<KeptResponses>(loop, std::move(*store));
}

void KeptResponses::keep(StoredResponse response) {
  pool_.submit([this, response = std::move(response)] {
    const Result<> kept = store_.put(response);
    if (kept) return;
    log::warn("response.not_kept", {{"id", response.id}, {"error", kept.error().message()}});
  });
}

Task<Result<StoredResponse>> KeptResponses::get(std::string key, std::string id) {
  auto job = [this, key = std::move(key), id = std::move(id)] { return store_.get(key, id); };
  auto found = co_await pool_.run(loop_, std::move(job));
  co_return found;
}

Task<Result<std::vector<StoredResponse>>> KeptResponses::conversation(std::string key,
                                                                      std::string id) {
  auto job = [this, key = std::move(key), id = std::move(id)] {
    return store_.conversation(key, id);
  };
  auto found = co_await pool_.run(loop_, std::move(job));
  co_return found;
}

Task<Result<>> KeptResponses::remove(std::string key, std::string id) {
  auto job = [this, key = std::move(key), id = std::move(id)] { return store_.remove(key, id); };
  auto removed = co_await pool_.run(loop_, std::move(job));
  co_return removed;
}

}  // namespace hearth::api::responses
