// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "front/transfer.h"
#include "front/verify/content_reader.h"
#include "layers/artifact/blob_store.h"
#include "layers/artifact/catalogue.h"

namespace hearth::front {

// Who has a model checked. Belongs to the loop.
class CheckControl : public ReadControl {
 public:
  // `index` of artifact.files() is read from now on.
  virtual void reading(const Artifact& artifact, std::size_t index) = 0;
  // Whether a person hears of the verdict. Until one has, a model that was written to stays
  // "changed".
  virtual bool is_heard() const = 0;
};

// Reads all content of one model and says what it is worth: the same as before, written to, rotten
// or gone. Belongs to the loop.
class ModelCheck {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;
    const HashNotes& notes;
    const Files& files;
    const BlobStore& store;
    // The catalogue's listing.
    std::function<const std::vector<NamedModel>&()> models;
    // These bring the listing up to date before they return.
    std::function<Task<Result<>>(std::string artifact)> recheck;
    std::function<Task<Result<ArtifactStatus>>(std::string artifact,
                                               std::vector<std::string> sha256)>
        note_hashed;
  };
  explicit ModelCheck(World world) : world_{std::move(world)}, reader_{reader_world()} {}

  // Parts of a file that hold other bytes than they should, by number.
  struct BadParts {
    std::size_t file = 0;  // of Artifact::files()
    std::vector<Digest> known;
    std::vector<std::size_t> bad;
  };
  struct Checked {
    Verified verified;
    Bytes read;
    // Of each rotten file; where its parts are not known, `known` is empty.
    std::vector<BadParts> rotten;
  };
  // `key`: ModelName::key(). Errors: kNotFound (the name has gone), kCancelled (control's wish),
  // and the catalogue's. Files that cannot be read are a verdict.
  Task<Result<Checked>> run(std::string key, CheckControl& control);

  const NamedModel* find(const std::string& key) const;

 private:
  struct Contents {
    std::vector<ContentReader::Read> files;
    std::vector<std::string> sha256() const;
  };

  ContentReader::World reader_world() const {
    return {world_.loop, world_.pool, world_.notes, world_.files};
  }
  Task<Result<Checked>> attempt(std::string key, CheckControl& control);
  Task<Result<Contents>> read_all(Artifact artifact, CheckControl& control);
  Task<Result<ArtifactStatus>> settle(std::string key, Artifact artifact, Contents& contents,
                                      CheckControl& control);
  Task<std::vector<BadParts>> find_bad(Artifact artifact, Contents contents);
  enum class Told { kNobody, kSomebody };
  Task<bool> keep(Artifact artifact, Contents contents, Told told);
  std::optional<std::vector<Digest>> known_parts(const Artifact::Shard& file) const;
  void keep_parts(const Artifact::Shard& file, const FileHash::Hashed& hashed) const;

  World world_;
  ContentReader reader_;
};

}  // namespace hearth::front
