// SPDX-License-Identifier: Apache-2.0
#include "cli/interruptible_stream.h"

#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/interrupt.h"

namespace hearth::cli {
namespace {

struct Reading {
  Reading(const ApiClient& a, std::string t, std::string b)
      : api{a}, target{std::move(t)}, body{std::move(b)} {}

  bool take(std::string_view bytes) {
    std::lock_guard lock{mutex};
    if (abandoned) return false;
    feed(bytes);
    return true;
  }

  const ApiClient api;
  const std::string target;
  const std::string body;
  std::mutex mutex;
  std::function<void(std::string_view)> feed;  // guarded by mutex, as is all below
  bool abandoned = false;
  std::optional<Result<>> outcome;
};

void read(const std::shared_ptr<Reading>& reading) {
  Result<> outcome = reading->api.stream(
      reading->target, reading->body, [&](std::string_view bytes) { return reading->take(bytes); });
  std::lock_guard lock{reading->mutex};
  reading->outcome = std::move(outcome);
  if (!reading->abandoned) InterruptWatch::wake();
}

}  // namespace

Result<> stream_until_interrupt(const ApiClient& api, std::string target, std::string body,
                                std::function<void(std::string_view)> feed) {
  InterruptWatch watch;
  // shared_ptr: the reading thread, and this function, which may leave first.
  const auto reading = std::make_shared<Reading>(api, std::move(target), std::move(body));
  reading->feed = std::move(feed);
  std::thread reader{read, reading};
  watch.wait();
  std::unique_lock lock{reading->mutex};
  if (!reading->outcome) {
    reading->abandoned = true;
    reader.detach();
    return fail(ErrorCode::kCancelled, "stopped");
  }
  lock.unlock();
  reader.join();
  return std::move(*reading->outcome);
}

}  // namespace hearth::cli
