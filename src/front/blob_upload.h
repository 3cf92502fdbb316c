// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/event_loop.h"
#include "base/pool.h"
#include "front/transfer.h"
#include "layers/artifact/blob_store.h"

namespace hearth::front {

// A client's blob on its way into the store; what blocks runs in a pool, which must outlive it.
class PooledUpload : public BlobUpload {
 public:
  PooledUpload(EventLoop& loop, Pool& pool, BlobStore::Incoming incoming)
      : loop_{loop},
        pool_{pool},
        incoming_{std::make_shared<BlobStore::Incoming>(std::move(incoming))} {}
  PooledUpload(const PooledUpload&) = delete;
  PooledUpload& operator=(const PooledUpload&) = delete;
  ~PooledUpload() override {
    // What is not finished is deleted there.
    pool_.submit([last = std::move(incoming_)]() mutable { last.reset(); });
  }

  Task<Result<>> write(std::string bytes) override {
    auto job = [incoming = incoming_, bytes = std::move(bytes)] { return incoming->write(bytes); };
    co_return co_await pool_.run(loop_, std::move(job));
  }
  Task<Result<>> finish() override {
    auto job = [incoming = incoming_]() -> Result<> {
      if (const auto blob = incoming->finish(); !blob) return Failed{blob.error()};
      return {};
    };
    co_return co_await pool_.run(loop_, std::move(job));
  }

 private:
  EventLoop& loop_;
  Pool& pool_;
  std::shared_ptr<BlobStore::Incoming> incoming_;  // this and the job that uses it
};

}  // namespace hearth::front
