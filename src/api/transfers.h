// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/call.h"
#include "base/async.h"
#include "front/reply.h"
#include "front/transfer.h"

// What all dialects do with long work on a model's files.
namespace hearth::api {

// How a transfer looks in one dialect. What the append functions add is complete: whole lines, or
// whole server-sent events; nothing, where this dialect has no word for it. One object for each
// transfer, used from first to last in order.
class TransferFormat {
 public:
  virtual ~TransferFormat() = default;

  virtual std::string_view content_type() const = 0;
  virtual void append_progress(std::string& out, const front::TransferProgress& progress) = 0;
  virtual void append_verified(std::string& out, const front::Verified& verified) = 0;
  virtual void append_done(std::string& out, const front::TransferDone& done) = 0;
  virtual void append_error(std::string& out, const Error& error) = 0;

  // What this dialect calls the field that the front calls `source`.
  virtual std::string_view source_field() const { return "source"; }

  // The one answer of a client that wants no stream.
  virtual std::string whole(const front::TransferDone& done) = 0;
  // Of one that does not wait for the end either.
  virtual std::string whole(const front::TransferProgress& progress) = 0;
};

struct TransferOptions {
  front::Delivery delivery = front::Delivery::kStreamed;
  bool detach = false;  // it goes on when the client leaves; a whole answer tells of its beginning
};

// Follows the transfer and tells of it. A client that leaves stops waiting for it. An error before
// the first byte has a status of its own; one after it is the stream's last line.
Task<void> serve_transfer(Call call, std::unique_ptr<front::Transfer> transfer,
                          std::unique_ptr<TransferFormat> format, TransferOptions options);

}  // namespace hearth::api
