// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/result.h"
#include "wire/frame.h"
#include "wire/messages.h"

namespace hearth::front {

// What is kept of prompts beyond live cells: which blocks there are in memory and on disk, what of
// them a request can use, and where its new ones go. The front holds the index and the budgets; the
// bytes are read and written by workers, in memory that the front lends them (an arena for each
// model, whose slots cost what is written into them) and from files that it opens for them.
//
// A block is in memory first, right after the reply that made it; on disk once it has been used
// again, belongs to a module, or its conversation has been quiet for a while, as far as the day's
// budget of writes goes. What memory has no room for any more goes, whether or not it is on disk.
//
// Belongs to the loop; files are touched in the pool. stop() before destroying it.
class PrefixRoom {
 public:
  struct Limits {
    Bytes memory;      // of all arenas; zero: nothing is kept beyond live cells
    Bytes disk;        // of all files; zero: nothing is written
    Bytes daily;       // written to disk on one day
    int quiet_s = 10;  // after the last reply, then a conversation counts as ended
    int days = 30;     // a block that nobody used for so long is deleted
  };
  struct World {
    EventLoop& loop;
    Pool& pool;
    const Files& files;
    const Clock& clock;
    std::string directory;  // <data>/prefix; made with mode 0700
    std::function<Limits()> limits;
    // SHA-256 over a model's files and adapters; nothing while it is not known, and then nothing of
    // it is written to disk.
    std::function<std::optional<std::string>(const std::string& artifact)> content;
    // A worker of this model evaluates so many prompt tokens a second; zero: not measured yet.
    std::function<double(const std::string& artifact)> prefill_rate;
  };

  explicit PrefixRoom(World world);
  ~PrefixRoom();

  // Reads the index, or makes it anew from the files. Until it is done nothing is found on disk.
  Task<void> open();
  // Writes what is worth it and not written yet, within the budgets.
  Task<void> stop();

  // --- one model's worker ---
  // A worker is ready: the memory to send it with kArena. Nothing when nothing is kept.
  std::optional<Fd> arena(const std::string& artifact);
  // It is gone: plans of its requests are void, their slots free.
  void worker_lost(const std::string& artifact);

  // --- one request ---
  struct Use {
    std::string artifact;
    std::string group;  // of keys that share
    wire::ReadyMessage ready;
    wire::LoadOptions options;
  };
  // GenerateMessage::domain.
  std::string domain(const Use& use) const;

  struct Ask {
    std::uint64_t request = 0;
    Use use;
    std::vector<int> tokens;
    int max_generated = 0;  // of the reply; a guess where nobody said
    // GenerateMessage::domain as the worker has it; empty: as domain() says now. It matters where
    // the model's content became known in between.
    std::string domain;
    std::string module;  // this is a module being evaluated: its blocks stay
    // Texts whose blocks, evaluated alone, may be used at other positions of this prompt: an
    // approximation that the request allows. Not where bits must not differ.
    std::vector<std::vector<int>> texts = {};
  };
  // The frames that answer kTokenized; at least one. Its slots are reserved until note_blocks(), or
  // worker_lost(), or close() without blocks to come. Waits for blocks of this prompt that are
  // being written while another request has the cells that they came from, for no longer than a
  // part of what evaluating them again would take.
  Task<std::vector<wire::Frame>> plan(Ask ask);

  // What kept this prompt from more reuse, before it was evaluated. Whether keys of another group
  // asked the same is not told.
  enum class Miss {
    kNone,          // nothing to miss: never seen, or all of it is there
    kDiverged,      // an earlier prompt begins alike and goes on otherwise
    kEvicted,       // it was stored and has been deleted
    kShort,         // what is common is less than a block
    kOtherOptions,  // it is there, for other options, engine, hardware or file
    kNotRestorable,
  };
  struct Found {
    int arena = 0;  // tokens
    int disk = 0;
    int seen = 0;  // leading tokens that were evaluated before, whether or not they are stored
    Miss miss = Miss::kNone;
  };
  // Of the last plan() for this request.
  Found found(std::uint64_t request) const;

  void note_started(std::uint64_t request, const wire::StartedMessage& started);
  // Its reply has ended; blocks will come, if they have not.
  void note_replied(std::uint64_t request);
  void note_blocks(std::uint64_t request, const wire::BlocksMessage& blocks);
  // The request ended without a reply; blocks may still come.
  void close(std::uint64_t request);

  // --- for people ---
  struct Stored {
    int tokens_memory = 0;
    int tokens_disk = 0;
    Bytes memory;
    Bytes disk;
  };
  Stored stored(const std::string& artifact) const;
  // How much of the beginning of a prompt with these tokens is there, in tokens.
  struct Kept {
    int memory = 0;    // in memory
    int anywhere = 0;  // in memory or on disk
  };
  Kept kept(const Use& use, std::span<const int> tokens) const;
  // The same, and what is there belongs to this module from now on: it stays.
  Kept keep_module(const Use& use, std::span<const int> tokens, const std::string& module);
  // Blocks of modules for which this is false are as any others from now on.
  void keep_modules(const std::function<bool(const std::string& module)>& stays);
  struct Figures {
    Bytes memory, memory_limit, disk, disk_limit, written_today, daily_limit;
    int blocks_memory = 0, blocks_disk = 0;
    std::uint64_t lookups = 0, hit_tokens = 0, missed_tokens = 0;
    std::uint64_t evicted_memory = 0, evicted_disk = 0;
    std::vector<std::pair<std::string, std::uint64_t>> refused;  // by reason
    double restore_memory_rate = 0, restore_disk_rate = 0;       // bytes a second; 0: not measured
    double saved_seconds = 0;  // of prefill, at the measured rates
  };
  Figures figures() const;

  // A narrower choice of blocks: by model, by group, in one tier; empty means all.
  struct Choice {
    std::string artifact;
    std::optional<std::string> group;
  };
  // Deletes what is chosen in all tiers; the bytes.
  Task<Result<Bytes>> drop(Choice choice);
  // Writes what is chosen to disk, budget or not, and gives its memory back; the bytes.
  // Errors: kNoSpace.
  Task<Result<Bytes>> spill(Choice choice);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hearth::front
