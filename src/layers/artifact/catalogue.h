// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "layers/artifact/artifact.h"
#include "layers/artifact/catalogue_rows.h"
#include "layers/artifact/found/store_root.h"
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

// Whether that is all that was seen there: names of what was not go.
enum class FoundExtent { kPart, kAll };

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
  // and takes in what the file has become. A name that a look into another store gave becomes the
  // user's. Errors: kConflict, when the name stands for other files; those of inspect_artifact().
  Result<NamedModel> import(const std::string& path, const ModelName& name);

  // Makes `to` a second name of what `from` stands for, with its settings. Doing it again is fine.
  // Errors: kNotFound; kConflict, when `to` stands for other files.
  Result<NamedModel> copy(const ModelName& from, const ModelName& to);

  // Sorted by name. What was broken or is missing is listed too.
  Result<std::vector<NamedModel>> list();

  // Errors: kNotFound.
  Result<NamedModel> find(const ModelName& name);

  // Forgets the name, and the artifact with its last name. A name that another program's store gave
  // does not come back with the next look there. Errors: kNotFound.
  Result<> remove_name(const ModelName& name);

  // Makes `name` stand for files of our own store, in place of what it stood for before: a pull
  // brings the newest. What some artifact knows of the same files holds for these too: that they
  // are rotten, or what an unread one was found to be. Errors: those of inspect_files().
  struct Installed {
    std::vector<std::string> paths;
    std::vector<std::string> adapters;
    std::vector<std::string> sha256;  // of paths, then adapters
    ModelSettings settings;
    Origin origin;
    // By place in sha256: those that were here already and that nobody has hashed now. It is only
    // what they should have; note_hashed() finds out.
    std::set<std::size_t> unread{};
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
  // costs a stat. A file that is no whole model is listed as broken, with the reason; what is sound
  // but no model for us is only reported. When `found` is all there is, names that came from there
  // before and are not found any more go, but for those of files that are pinned, or that the user
  // named too.
  Result<FoundReport> note_found(Store store, const std::string& root,
                                 const std::vector<FoundModel>& found,
                                 FoundExtent extent = FoundExtent::kAll);

  // Stores and folders that names came from, each once.
  Result<std::vector<StoreRoot>> found_roots() { return rows_.found_roots(); }

  // What a hash of all content brought, in the order of Artifact::files(): writes it down the first
  // time, and compares ever after, with what a publisher promised from the first time on. kOk or
  // kChanged, or kRotten with the reason. Errors: kNotFound, when a file is missing; kConflict,
  // when the files are not those that were hashed (`id` has gone, or they were written to since).
  Result<ArtifactStatus> note_hashed(const std::string& id, const std::vector<std::string>& sha256);

  // The files were deleted and can be fetched again: names and facts stay. Errors: kNotFound.
  Result<> note_absent(const std::string& id);

  // Paths that some artifact uses, whichever store they are in. Files of absent ones are not used.
  Result<std::vector<std::string>> paths_in_use();

  // Notes that the artifact was used as it is now, which settles a kChanged. Errors: kNotFound.
  Result<> touch(const std::string& id);

  // A pin of the same layer is replaced. It stays with the files when they change, and goes with
  // their last name. Errors: kNotFound.
  Result<> pin(const std::string& id, const Pin& pin);
  // Where there is none, nothing happens.
  Result<> unpin(const std::string& id, std::string_view layer);

  // Looks at the files again; reads headers only of files that differ from what is noted, or of
  // which an older Hearth noted less. When files changed, the artifact returned has a new id, and
  // their digests are not known any more. Rotten files stay so until they were hashed well, absent
  // ones until they were installed. Our own files that have gone and can be fetched again are
  // absent, not missing.
  // Errors: kNotFound for an unknown id.
  Result<Artifact> recheck(const std::string& id);

 private:
  Catalogue(CatalogueRows rows, const Files& files, const Clock& clock);

  // The row of what lies where `fresh` does, or is the same file by another path; nothing if new.
  Result<std::optional<Artifact>> known_like(const Artifact& fresh);
  // Gives `fresh` what is known of its files, and writes it down in place of `known`.
  Result<> take_over(const std::optional<Artifact>& known, Artifact& fresh);
  Result<> carry_known(Artifact& fresh);
  Result<Artifact> reinspect(Artifact known);
  Result<NamedModel> replace(const ModelName& name, const ModelSettings& settings,
                             const std::optional<Artifact>& known, Artifact artifact);

  // note_found()'s steps. What is found of a model's files; `known` is the row to be replaced.
  struct Finding {
    std::optional<Artifact> known;
    Artifact artifact;
    bool is_news = false;
  };
  Result<Finding> look_at_found(Store store, const FoundModel& model);
  Result<Finding> found_broken(const std::vector<std::string>& paths, const Error& why);
  // Nothing when the model is listed under that name already. Errors: kConflict.
  Result<std::optional<ModelName>> name_for(const FoundModel& model, const std::string& artifact);
  // `current`: the name that it has already, or null.
  Result<> note_one(const CatalogueRows::FoundAs& as, const FoundModel& model,
                    const CatalogueRows::Name* current, FoundReport& report);
  Result<> drop_gone(const std::vector<CatalogueRows::Name>& gone, FoundReport& report);

  CatalogueRows rows_;
  const Files* files_;  // not owned
  const Clock* clock_;  // not owned
};

// Whether one of its files was found to hold other bytes than it should.
bool is_rotten(const Artifact& artifact);
// What it says of itself then.
std::string reason_of_rot(const Artifact& artifact);

}  // namespace hearth
