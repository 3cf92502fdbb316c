// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "fetcher/connections.h"
#include "fetcher/lane.h"
#include "fetcher/patience.h"
#include "transfer/download.h"
#include "wire/fetch_messages.h"

namespace hearth::fetcher {

// Where a fetched file goes, and whom to tell.
struct FileTarget {
  Fd data;
  Fd journal;
  transfer::Geometry geometry;
  std::function<void(const wire::Fetching&)> progress;  // at most ten times a second
};

// Fetches one file over parallel ranges while a second thread hashes what has come. Used once, on
// the thread of its Connections.
class FileFetch {
 public:
  FileFetch(Connections& connections, const wire::FetchRules& rules, FileTarget target);

  // Blocks until the file is complete, checked and synced.
  // Errors: kInvalid (a refused URL, host or redirect), kNotFound, kUnsupported, kNoSpace, kCorrupt
  // (not what was promised), kUnavailable (everything else that a later attempt may get over).
  Result<wire::Fetched> run(const wire::FetchFile& what);

 private:
  Result<wire::Fetched> drive(Course& course);
  void reap(Course& course);
  void note_progress(const Course& course);
  void on_trouble(const Lane& lane, Course& course);
  void start_lanes(Course& course);
  std::chrono::milliseconds time_to_wait() const;
  void report(const Course& course);
  std::string note() const;
  int active() const { return static_cast<int>(lanes_.size()); }

  Connections& connections_;
  const int most_;  // connections
  FileTarget target_;
  Patience patience_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  int allowed_;  // lanes at once, as the server bears them
  TimePoint last_overload_{};
  TimePoint last_failure_{};
  TimePoint not_before_{};  // no new lane
  std::string waiting_for_;
  Bytes arrived_;            // when last looked
  bool progressed_ = false;  // since the last failure
  TimePoint last_report_{};
};

}  // namespace hearth::fetcher
