// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/async.h"
#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "front/prewarm/arrival_book.h"
#include "front/prewarm/lasting_time.h"
#include "front/prewarm/moments.h"
#include "front/prewarm/prewarm_book.h"

namespace hearth::front {

// When models are asked for and what prewarming came to, with the time line that both are kept on:
// `arrivals.json`. It tells when people are at home: mode 0600. Belongs to the loop.
class HabitFile {
 public:
  HabitFile(const Files& files, std::string path, Moments moments, PrewarmRules rules = {});

  ArrivalBook& arrivals() { return arrivals_; }
  const ArrivalBook& arrivals() const { return arrivals_; }
  PrewarmBook& prewarm() { return prewarm_; }
  const PrewarmBook& prewarm() const { return prewarm_; }
  const Moments& moments() const { return moments_; }

  // Now, on the time line that outlives restarts.
  Duration now() { return time_.at(moments_.now()); }

  void rename(const std::string& from, const std::string& to);
  void forget(const std::string& artifact);

  // Takes over what an earlier server learnt. A file that is not wholly right is set aside, with a
  // warning, and all begins anew. Before anything is noted. Blocks.
  void load();

  // Writes what is new, if anything, in `pool`. What cannot be written is tried again next time.
  Task<void> save(EventLoop& loop, Pool& pool);

 private:
  Result<> take(std::string_view text);
  std::uint64_t version();

  const Files& files_;
  std::string path_;
  Moments moments_;
  LastingTime time_;
  ArrivalBook arrivals_;
  PrewarmBook prewarm_;
  std::uint64_t saved_ = 0;
  bool saving_ = false;
};

}  // namespace hearth::front
