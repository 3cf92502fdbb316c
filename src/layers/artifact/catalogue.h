// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/sqlite.h"
#include "layers/artifact/artifact.h"
#include "layers/artifact/model_name.h"
#include "layers/artifact/model_settings.h"
#include "layers/artifact/origin.h"
#include "layers/artifact/pin.h"

namespace hearth {

// A name in the catalogue and what it stands for.
struct NamedModel {
  std::string name;  // canonical, in the case in which it was first given
  std::string key;   // ModelName::key()
  std::int64_t created_at_us = 0;
  Artifact artifact;
  std::vector<Pin> pins{};  // of the artifact, so the same for all its names
  ModelSettings settings{};
};

// A model that was seen in another program's store or in a watched folder.
struct FoundModel {
  std::string name;                // what it would like to be called
  std::string fallback;            // if that name stands for other files already
  std::vector<std::string> paths;  // its files, in order
  std::vector<std::string> adapters{};
  ModelSettings settings{};
  Origin origin{};
};

// What one look into such a store brought.
struct FoundReport {
  int added = 0;
  int removed = 0;                   // names that came from there and whose files are gone
  std::vector<std::string> refused;  // files that are no models for us, each with the reason
};

// The models that this server knows: names, the files behind them, and what those files said when
// they were last read. Files are used where they lie and never written or removed.
//
// Lives in an SQLite file of its own and survives restarts. Blocks on disk; belongs to one thread
// at a time (a Pool of one). Every error may also be kNoSpace or kUnavailable from the database.
class Catalogue {
 public:
  // `files` and `clock` must outlive the catalogue.
  static Result<Catalogue> open(const std::string& path, const Files& files, const Clock& clock);

  // Makes `name` stand for the model at `path`, after reading its header. Doing it again is fine,
  // and takes in what the file has become. Errors: kConflict, when the name stands for other files;
  // those of inspect_artifact().
  Result<NamedModel> import(const std::string& path, const ModelName& name);

  // Makes `to` a second name of what `from` stands for. Doing it again is fine. Errors: kNotFound;
  // kConflict, when `to` stands for other files.
  Result<NamedModel> copy(const ModelName& from, const ModelName& to);

  // Sorted by name. What was broken or is missing is listed too.
  Result<std::vector<NamedModel>> list();

  // Errors: kNotFound.
  Result<NamedModel> find(const ModelName& name);

  // Forgets the name, and the artifact with its last name. A name that another program's store gave
  // does not come back with the next look there. Errors: kNotFound.
  Result<> remove_name(const ModelName& name);

  // Makes `name` stand for files of our own store, in place of what it stood for before: a pull
  // brings the newest. Their digests are known. Errors: those of inspect_files().
  struct Installed {
    std::vector<std::string> paths;
    std::vector<std::string> adapters;
    std::vector<std::string> sha256;  // of paths, then adapters
    ModelSettings settings;
    Origin origin;
  };
  Result<NamedModel> install(const ModelName& name, const Installed& model);

  // Makes `name` stand for what `from` stands for, with settings of its own, and with these adapter
  // files instead of `from`'s if there are any. Replaces what the name stood for. Errors:
  // kNotFound; those of inspect_files().
  struct Derived {
    ModelSettings settings;
    std::vector<std::string> adapters;
  };
  Result<NamedModel> derive(const ModelName& from, const ModelName& name, const Derived& what);

  // Takes in what a look into `store` found; `root` is which one of its folders. What is unchanged
  // costs a stat. A file that cannot be read as a model is listed as broken, with the reason. Names
  // that came from there before and have no files now go, but for those pinned or aliased by hand.
  Result<FoundReport> note_found(Store store, const std::string& root,
                                 const std::vector<FoundModel>& found);

  // What a hash of all content brought, in the order of shards, then adapters: writes it down the
  // first time, and compares ever after. kOk, or kRotten with the reason. Errors: kNotFound;
  // kConflict, when the files are not those that were hashed (`id` has gone).
  Result<ArtifactStatus> note_hashed(const std::string& id, const std::vector<std::string>& sha256);

  // The files were deleted and can be fetched again: names and facts stay. Errors: kNotFound.
  Result<> note_absent(const std::string& id);

  // Paths that some artifact uses, whichever store they are in.
  Result<std::vector<std::string>> paths_in_use();

  // Notes that the artifact was used as it is now, which settles a kChanged. Errors: kNotFound.
  Result<> touch(const std::string& id);

  // A pin of the same layer is replaced. It stays with the files when they change, and goes with
  // their last name. Errors: kNotFound.
  Result<> pin(const std::string& id, const Pin& pin);
  // Where there is none, nothing happens.
  Result<> unpin(const std::string& id, std::string_view layer);

  // Looks at the files again; reads headers only of files that differ from what is noted, or of
  // which an older Hearth noted less. When files changed, the artifact returned has a new id.
  // Errors: kNotFound for an unknown id.
  Result<Artifact> recheck(const std::string& id);

 private:
  Catalogue(Database db, const Files& files, const Clock& clock);

  Result<std::vector<NamedModel>> query(std::string_view where, std::string_view value);
  Result<> attach_pins(std::vector<NamedModel>& models);
  Result<Artifact> artifact_where(std::string_view column, std::string_view value);
  Result<> store(const std::string& old_id, const Artifact& artifact);
  Result<> rename(const std::string& old_id, const std::string& new_id);
  Result<> write_name(const ModelName& name, const std::string& id);
  Result<> set_status(const std::string& id, ArtifactStatus status, std::string_view reason);
  Result<Artifact> reinspect(Artifact known);

  Database db_;
  const Files* files_;  // not owned
  const Clock* clock_;  // not owned
};

}  // namespace hearth
