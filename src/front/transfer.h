// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/async.h"
#include "base/result.h"

namespace hearth::front {

// Long work on a model's files, as those who wait for it see it.

struct PullRequest {
  std::string source;  // "hf.co/org/repo[:quant]", "[host/][namespace/]name[:tag]", "https://..."
  std::string name;    // what the model is to be called; empty: as the source says
  bool insecure = false;  // http where the source has no scheme; its host must be allowed to
};

struct VerifyRequest {
  std::string model;    // empty: all
  bool repair = false;  // fetch what is bad once more, where it is known from where
};

// At most ten a second.
struct TransferProgress {
  std::string stage;                         // "queue", "metadata", "download", "verify", "install"
  std::string model;                         // of a verify that goes over several; else empty
  std::string file;                          // as its publisher calls it
  std::string digest;                        // "sha256:...", where one was promised
  std::int64_t done = 0, total = 0;          // bytes of this file; total 0: not known
  std::int64_t all_done = 0, all_total = 0;  // of all files together
  double bytes_per_s = 0;
  std::optional<double> eta_ms;
  std::string note;  // what a person should know: which quantisation was chosen, why it waits
};

// What verify found out about one model.
struct Verified {
  std::string model;
  std::string verdict;  // "good", "changed" (written to since), "rotten", "missing", "repaired"
  std::string text;     // one sentence with what to do; empty when it is good
  std::string sha256;
  std::int64_t bytes = 0;
  std::int64_t bad_bytes = 0;  // in parts that are not what they were
};

// The last event of one that went well.
struct TransferDone {
  std::string model;               // a pull's
  std::vector<Verified> verified;  // a verify's
  std::int64_t bytes = 0;          // size of the files
  std::int64_t received = 0;       // over the network
  double metadata_ms = 0, download_ms = 0, verify_ms = 0;
  bool was_there = false;  // nothing had to be fetched
};

using TransferEvent = std::variant<TransferProgress, Verified, TransferDone, Error>;

// One waiter of a pull or a verify. Several may wait for the same; dropping this stops waiting, and
// when nobody waits any more the work pauses: what has arrived is kept and goes on with the next
// request for it. Belongs to the loop.
class Transfer {
 public:
  virtual ~Transfer() = default;

  // Waits for the next event. After TransferDone or Error there is none: do not call again.
  virtual Task<TransferEvent> next() = 0;
  // Ends a wait in next() early, with Error kCancelled.
  virtual void cancel() = 0;
  // The work is to go on when this waiter leaves. Until then it hears of it as before.
  virtual void detach() = 0;
};

// A pull that is under way, or of which parts are kept.
struct PullStatus {
  std::string source;
  std::string name;
  std::string state;   // "queued", "running", "paused", "failed"
  std::string reason;  // of a failure
  std::int64_t done = 0, total = 0;
  double bytes_per_s = 0;
  std::int64_t touched_us = 0;  // wall clock: when something arrived last
  int waiting = 0;              // clients
};

// What prune would take away, or has.
struct Prunable {
  std::string kind;  // "partial", "unused", "leftover"
  std::string what;  // a source, a digest
  std::string why;
  std::int64_t bytes = 0;
};

// What cooling the artifact layer would delete, and what would have to be fetched again.
struct CoolPreview {
  std::string model;
  std::string source;
  std::vector<std::string> files;  // for admins
  std::int64_t freed_bytes = 0;    // what other models share is not freed
  std::int64_t fetch_bytes = 0;
  std::vector<std::string> also;  // other names of the same files
};

struct CreateRequest {
  std::string name;
  std::string from;  // a model's name
  std::string path;  // or a file of this machine, used where it lies
  // Or blobs that were uploaded: file name -> "sha256:...".
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::pair<std::string, std::string>> adapters;
  std::vector<std::string> adapter_paths;
  // What is said takes the place of what `from` has; parameters one by one.
  std::optional<std::string> system;
  std::optional<std::string> chat_template;
  std::optional<std::string> license;
  std::string parameters;  // JSON object, or empty
  std::string messages;    // JSON list, or empty
};

// A blob on its way in. Dropping it before finish() leaves nothing behind. Belongs to the loop.
class BlobUpload {
 public:
  virtual ~BlobUpload() = default;
  // In order. Errors: kNoSpace, kUnavailable.
  virtual Task<Result<>> write(std::string bytes) = 0;
  // Errors: kInvalid, when the content is not what its digest says.
  virtual Task<Result<>> finish() = 0;
};

}  // namespace hearth::front
