// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/responses/response_store.h"
#include "base/async.h"
#include "base/event_loop.h"
#include "base/pool.h"

namespace hearth::api::responses {

// A ResponseStore for the loop: its one thread does what is asked in the order in which it was
// asked, so that a response can be read as soon as keep() has returned.
//
// Belongs to the loop, which outlives it. Its end waits for what is still to be written.
class KeptResponses {
 public:
  // `path`: of the store's file. Blocks: call it before the loop runs. Errors: as
  // ResponseStore::open().
  static Result<std::unique_ptr<KeptResponses>> open(EventLoop& loop, const Clock& clock,
                                                     const std::string& path);

  KeptResponses(EventLoop& loop, ResponseStore store);
  // Tests run what it does inside the calls.
  struct Inline {};
  KeptResponses(EventLoop& loop, ResponseStore store, Inline);

  // Returns at once. What cannot be written is told in the log: the client has its reply.
  void keep(StoredResponse response);
  // These three: see ResponseStore.
  Task<Result<StoredResponse>> get(std::string key, std::string id);
  Task<Result<std::vector<StoredResponse>>> conversation(std::string key, std::string id);
  Task<Result<>> remove(std::string key, std::string id);

 private:
  EventLoop& loop_;
  ResponseStore store_;  // used on pool_ only
  Pool pool_;
};

}  // namespace hearth::api::responses
