// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/stage.h"
#include "front/pulls/fetcher.h"
#include "front/pulls/pull_rules.h"
#include "front/pulls/rate.h"
#include "front/transfer.h"
#include "layers/artifact/blob_store.h"
#include "layers/artifact/fetch_plan.h"
#include "layers/artifact/origin.h"

namespace hearth::front {

class PlanFinder;

// All files of a model, complete and checked, on their way into store and catalogue.
struct PulledModel {
  struct File {
    PlannedFile planned;
    std::string sha256;  // of its content
    std::string etag;
    Bytes size;
    std::optional<BlobStore::OpenPartial> partial;  // nothing: it was in the store, unread now
  };
  FetchPlan plan;
  std::vector<File> files;         // the plan's files, then its adapters
  std::vector<std::string> names;  // canonical; at least one
};

// One pull: from a source over its index and its files to an installed model. It can be run again
// after it ended early, and goes on with what it had. Belongs to the loop.
class Pull {
 public:
  struct World {
    EventLoop& loop;
    Pool& disk;
    const Files& files;
    const BlobStore& store;
    Fetcher::World fetcher;
    std::function<PullRules()> rules;    // as they are now
    std::function<std::string()> token;  // for Hugging Face; may block
    // What of this URL is in the store, by the catalogue's last word.
    std::function<std::optional<hearth::Origin::File>(const std::string& url)> known;
    // Errors: kNotFound, when a file that was in the store has gone meanwhile; it is fetched then.
    std::function<Task<Result<>>(PulledModel)> install;
    // Whether the catalogue knows better than to take this blob for what its name says.
    std::function<bool(const BlobStore::Blob&)> is_rotten = {};
  };
  // A file whose bytes are not all here.
  struct Unwritten {
    std::string key;  // of its partial download
    Bytes size, kept;
  };
  // What a pull asks of who keeps them all.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void progressed(Pull& pull) = 0;
    // What the model is to be called; none: nobody wants it any more.
    virtual std::vector<std::string> names(const Pull& pull) const = 0;
    // Files that others under way have yet to write.
    virtual std::vector<Unwritten> promised_to_others(const Pull& pull) const = 0;
    // Waits until no other holds any of keys(), or this one is stopped.
    virtual Task<void> turn(const Pull& pull) = 0;
  };

  // `again`: fetch exactly this, rather than what the source has by now; unless it is gone there.
  Pull(World world, ModelSource source, std::optional<FetchPlan> again, Owner& owner);

  // Errors: kCancelled, after stop(); those of PlanFinder::find(); kNoSpace, with need and free
  // bytes; kCorrupt, for files that are not what was promised, or no model; kUnavailable.
  Task<Result<TransferDone>> run();
  // run() ends soon with kCancelled; what has arrived by then is kept.
  void stop();
  bool stopped() const { return stopped_; }

  const ModelSource& source() const { return source_; }
  bool is_exact() const { return again_.has_value(); }
  const std::optional<FetchPlan>& plan() const { return plan_; }
  const TransferProgress& progress() const { return progress_; }
  // Of the run under way, or of the last one; what is going on ends now.
  std::vector<Stage> stages() const;
  Bytes received() const { return received_before_ + received_now_; }
  Bytes done() const;
  Bytes total() const;
  Bytes missing() const { return total() - done(); }
  std::vector<Unwritten> unwritten() const;
  // Keys of the names that the last run that went well has installed.
  const std::set<std::string>& installed() const { return installed_; }
  // Of the partial downloads that it needs. While it holds them nobody else touches them.
  std::vector<std::string> keys() const;
  bool holds(const std::string& key) const;

 private:
  struct Part {
    PlannedFile planned;
    std::string key;     // of its partial download
    std::string sha256;  // of its content, once somebody knows
    std::string etag;
    Bytes size;
    Bytes kept;  // of its partial download: what arrived
    bool in_store = false;
    std::optional<FileInfo> complete;  // its data, when all of it was found to be right
    std::optional<BlobStore::OpenPartial> open;

    bool is_here() const { return in_store || complete; }
  };
  struct Look;

  // `wanted`: pairs of digest and key.
  static Result<std::vector<Look>> look(
      const BlobStore& store, const std::vector<std::pair<std::string, std::string>>& wanted);
  Task<Result<TransferDone>> work(Fetcher& fetcher);
  void forget_what_is_here();
  Task<Result<>> find_plan(PlanFinder& finder);
  Task<Result<>> recognise(PlanFinder& finder);
  Task<Result<>> bring(Fetcher& fetcher, PlanFinder& finder);
  void use(FetchPlan plan);
  Task<Result<>> look_around();
  Task<Result<>> open(std::size_t index);
  PartialAbout about(const Part& part) const;
  Task<Result<>> check_space();
  Task<Result<>> fetch(Fetcher& fetcher, PlanFinder& finder, std::size_t index);
  Task<Error> why_not(PlanFinder* finder, std::size_t index, Error error);
  Task<Result<>> note_complete(std::size_t index, wire::Fetched fetched);
  Task<Result<>> install();
  TransferDone summary() const;
  Result<> still_wanted() const;
  void on_fetching(std::size_t index, const wire::Fetching& fetching);
  void count_received();
  std::string plan_note() const;
  void enter(StageKind kind, std::string stage);
  void tell();

  World world_;
  const ModelSource source_;
  std::optional<FetchPlan> again_;
  Owner& owner_;
  std::optional<FetchPlan> plan_;
  std::vector<Part> parts_;
  std::set<std::string> installed_;
  TransferProgress progress_;
  std::vector<Stage> stages_;
  Rate rate_;
  Bytes received_before_;  // by this run, of other files or by other fetchers
  Bytes received_now_;
  bool holding_ = false;
  bool fetched_ = false;  // anything at all
  bool running_ = false;
  Fetcher* fetcher_ = nullptr;  // while run() is under way
  bool stopped_ = false;
};

}  // namespace hearth::front
