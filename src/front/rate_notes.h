// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/async.h"
#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "policy/predictor.h"

namespace hearth::front {

// What the predictor has learnt, kept in one file over restarts. Belongs to the loop.
class RateNotes {
 public:
  RateNotes(const Files& files, std::string path) : files_{files}, path_{std::move(path)} {}

  Predictor& predictor() { return predictor_; }
  const Predictor& predictor() const { return predictor_; }

  // Takes over what an earlier server learnt. What cannot be read is begun anew. Blocks.
  void load();

  // Writes what is new, if anything, in `pool`; the file is whole at any moment. One that cannot be
  // written is tried again the next time, and costs only what was learnt.
  Task<void> save(EventLoop& loop, Pool& pool);

 private:
  const Files& files_;
  std::string path_;
  Predictor predictor_;
  std::uint64_t saved_ = 0;  // version
  bool saving_ = false;
};

}  // namespace hearth::front
