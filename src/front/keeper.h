// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/process.h"
#include "base/result.h"
#include "base/sync.h"
#include "front/worker.h"
#include "layers/artifact/load_set.h"

namespace hearth::front {

// The process that keeps pinned pages in memory, and what it holds. It is started with the first
// pin; when it dies all its pages are loose, which is told, and the next keep() starts another.
// Belongs to the loop. Call stop() before destroying it.
class Keeper {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;  // of what runs
    Pool& disk;  // what may wait for a disk
    const Files& files;
    Processes& processes;
    std::string program;  // path of hearth-keeper; empty: there is none
    Bytes most{};         // that may be locked in all; zero: half of the machine's memory
  };
  // Called when pages have become loose by themselves.
  using OnLost = std::function<void()>;

  Keeper(World world, OnLost on_lost);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Locks the first `bytes` of the set (0: all), in the set's order, in place of what was held for
  // this artifact before. Returns when they are in memory; calls for one artifact go one by one.
  // Errors: kNoSpace, with what the system or the budget allows; kNotFound (a file, or the
  // program); kUnsupported (a set of too many files); kUnavailable.
  Task<Result<>> keep(std::string artifact, LoadSet load_set, Bytes bytes);
  void forget(const std::string& artifact);

  // What is locked now.
  Bytes held(const std::string& artifact) const;
  // Whether that is exactly the first `bytes` of the set.
  bool holds(const std::string& artifact, const LoadSet& load_set, Bytes bytes) const;
  Bytes most() const { return most_; }

  Task<void> stop();

  std::uint64_t deaths() const { return deaths_; }
  int pid() const { return process_ ? process_->pid() : 0; }

 private:
  struct Asked {
    std::optional<Result<>> answer;
  };
  struct Held {
    std::uint64_t id = 0;  // on the wire
    LoadSet set;
    bool locked = false;
  };
  Result<> check_budget(const std::string& artifact, const LoadSet& wanted) const;
  Task<Result<>> ensure_process();
  Task<Result<>> keep_set(std::string artifact, LoadSet wanted);
  Task<void> supervise(Worker* process);
  void on_frame(const wire::Frame& frame);
  void on_lost(const ExitStatus& status);

  World world_;
  const Bytes most_;
  OnLost on_lost_;
  Notify changed_;
  Gate tasks_;
  std::unique_ptr<Worker> process_;
  bool starting_ = false;
  bool stopping_ = false;
  std::uint64_t next_id_ = 1;
  std::uint64_t deaths_ = 0;
  std::map<std::string, Held> held_;       // by artifact
  std::map<std::uint64_t, Asked*> asked_;  // by id
  std::set<std::string> busy_;             // artifacts that keep() is at
};

// The first `bytes` (0: all) of a load set.
LoadSet first_of(const LoadSet& load_set, Bytes bytes);

}  // namespace hearth::front
