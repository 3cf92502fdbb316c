// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/fd.h"
#include "base/result.h"
#include "engine/weight_set.h"
#include "repack/repack_file.h"
#include "wire/messages.h"
#include "worker/opened_model.h"

namespace hearth::worker {

// The key of what this model's load computes here. `content`: SHA-256 over its files.
repack::Key key_of(const OpenedModel& opened, const std::string& content);

// A stored repack that fits: where its tensors lie, and what their bytes must add up to.
struct UsableRepack {
  std::unordered_map<std::string, engine::WeightSet::Stored> places;
  std::unordered_map<std::string, std::uint64_t> checksums;
};

// Reads and checks table and key. Errors: kCorrupt, with a word that says why it is not used: the
// part of the key that differs, or what is wrong with the file.
Result<UsableRepack> open_stored(const OpenedModel& opened, const std::string& content,
                                 const Fd& file);

// Writes the repacked weights of a loaded model into a file, on a thread of low priority of its
// own. Model and weights outlive it.
class RepackStore {
 public:
  struct Stored {
    Fd file;
    std::unordered_map<std::string, engine::WeightSet::Stored> places;
    wire::StoredMessage message;
  };
  // Called on that thread, at the end; not when it was broken off.
  using OnStored = std::function<void(Stored)>;

  RepackStore(const OpenedModel& opened, const engine::WeightSet& weights, std::string content,
              Fd file, OnStored on_stored);
  ~RepackStore();  // breaks off

 private:
  Result<Stored> write(std::string content, Fd file) const;

  const OpenedModel& opened_;
  const engine::WeightSet& weights_;
  std::atomic<bool> stop_{false};
  std::jthread thread_;
};

}  // namespace hearth::worker
