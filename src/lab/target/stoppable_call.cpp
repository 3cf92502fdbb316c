// SPDX-License-Identifier: Apache-2.0
#include "lab/target/stoppable_call.h"

#include <chrono>
#include <future>
#include <thread>
#include <utility>

namespace hearth::lab {

Result<http::HttpResponse> call_until_stopped(const http::Client& client,
                                              const http::Client::Call& call,
                                              const std::function<bool()>& stop) {
  if (!stop) return client.call(call);
  if (stop()) return fail(ErrorCode::kCancelled, "interrupted");
  std::packaged_task<Result<http::HttpResponse>()> task{
      [client, call] { return client.call(call); }};
  std::future<Result<http::HttpResponse>> answer = task.get_future();
  std::thread{std::move(task)}.detach();
  while (answer.wait_for(std::chrono::milliseconds{100}) != std::future_status::ready) {
    if (stop()) return fail(ErrorCode::kCancelled, "interrupted");
  }
  return answer.get();
}

}  // namespace hearth::lab
