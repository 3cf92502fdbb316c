// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/pool.h"
#include "base/sync.h"
#include "front/compiled_files.h"
#include "front/load_plan.h"
#include "layers/compiled/compilations.h"
#include "layers/compiled/store_policy.h"
#include "wire/messages.h"

namespace hearth::front {

// Stored repacks: which there are, for which loads they fit, and what of them is worth its disk.
// The index is what the directory holds: it is read once, before the first answer. Belongs to the
// loop; files are touched in the pool.
class CompiledStore {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;
    const Files& files;
    const Clock& clock;
    std::string directory;
    // For all stored repacks together. Zero: nothing is kept, and nothing found.
    std::function<Bytes()> room;
    // Of the model's files; nothing while it is not known.
    std::function<std::optional<std::string>(const std::string& artifact)> content;
    // Models of the catalogue with this content.
    std::function<int(const std::string& content)> models;
    // What stays the same when a model's files are replaced: its name.
    std::function<std::string(const std::string& artifact)> name;
  };
  explicit CompiledStore(World world);

  // Waits for what goes on in the pool.
  Task<void> stop() { return tasks_.close(); }

  // Reads the directory, unless that was done, and brings it within the budget.
  Task<void> open();

  // The file for a load of this model by a worker with this key. Where there is none that fits, the
  // reason is kept for cause(), and files of the same model that no load here will fit any more are
  // deleted. One that cannot be opened just now stays, and is not handed out.
  Task<StoredRepack> find(std::string artifact, wire::CompileKey key);

  // After a load: `loaded` says whether the file was used, was refused (it is deleted then), or how
  // long computing took.
  void note_load(const std::string& artifact, const wire::LoadedMessage& loaded);

  // A place for a stored repack of `size`, made by deleting what is worth less. Errors: kNoSpace
  // (with the reason: no budget, or it does not pay), kUnavailable.
  struct Draft {
    repack::Key key;
    std::string path;
    Fd file;
  };
  Task<Result<Draft>> begin(std::string artifact, wire::CompileKey key, Bytes size, StoreWish wish);
  // Written well: it is kept from now on. Errors: kCorrupt, kNoSpace, kUnavailable; it is gone
  // then.
  Task<Result<>> keep(Draft draft);
  Task<void> give_up(Draft draft);

  // Deletes all that is stored for this model's content; the bytes.
  Task<Result<Bytes>> drop(std::string artifact);

  // The file that fits the model as far as is known: `key`, or any of its content without one.
  const CompiledFile* stored(const std::string& artifact,
                             const std::optional<wire::CompileKey>& key) const;
  CompiledCause cause(const std::string& artifact) const;
  // Somebody else knows better why the load under way has to compute.
  void set_cause(const std::string& artifact, CompiledCause cause);
  std::optional<Duration> time(const std::string& artifact) const;  // to compute it
  // Why nothing is stored, or what was refused; empty when there is nothing to say.
  std::string note(const std::string& artifact) const;
  void set_note(const std::string& artifact, std::string note);

 private:
  struct Kept {
    CompiledFile at;
    bool checked = false;  // all of it, since the server started, and it is the same file still
    Duration repack{};     // what it saves; zero: not measured since the server started
    int starts = 0;
    std::int64_t used_ns = 0;  // wall clock
  };
  // What is remembered of a model, by artifact.
  struct Seen {
    CompiledCause cause = CompiledCause::kFirst;
    std::string note;
    std::optional<Duration> time;
    int starts = 0;
    std::string path;  // of the file that the load under way was given
  };

  std::int64_t now_ns() const { return world_.clock.wall_us() * 1000; }
  StoredWorth worth_of(const Kept& kept) const;
  std::vector<StoredWorth> worth_of_all() const;
  Kept* at(const std::string& path);
  Kept* fitting(const repack::Key& key);
  CompiledCause cause_of(const std::string& artifact, const repack::Key& key) const;
  bool is_stale(const Kept& kept, const repack::Key& key, const std::string& name) const;
  Task<StoredRepack> hand_out(std::string artifact, CompiledFile known);
  Task<void> drop_stale(std::string artifact, repack::Key key);
  Task<Result<Bytes>> forget(std::vector<std::string> paths);
  Task<void> forget_refused(std::string path);
  void note_use(Kept& kept);
  Task<void> touch(std::string path);

  World world_;
  CompiledFiles directory_;
  Gate tasks_;
  Notify opened_;
  bool opening_ = false;
  bool open_ = false;
  std::vector<Kept> kept_;
  std::map<std::string, Seen> seen_;           // by artifact
  std::map<std::string, std::string> stored_;  // content of the last stored repack, by model name
};

}  // namespace hearth::front
