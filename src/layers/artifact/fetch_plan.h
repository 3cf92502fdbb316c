// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "layers/artifact/model_settings.h"
#include "layers/artifact/origin.h"

namespace hearth {

// One file that a pull has to bring here.
struct PlannedFile {
  std::string name;  // as its publisher calls it, without directories
  std::string url;
  std::string sha256;  // as promised, lower-case hexadecimal; empty: nobody promised one
  Bytes size;          // zero: not known before the first answer
};

// What a pull will do, as a source's own index says. Nothing in it has been believed for longer
// than it takes to check it: hosts, names, sizes and digests are in bounds.
struct FetchPlan {
  std::string source;    // normalised: "hf.co/org/repo:Q4_K_M", "registry.ollama.ai/library/x:tag"
  std::string name;      // what the model is called unless the user says otherwise
  std::string revision;  // a commit, a manifest's digest; may be empty
  std::string choice;    // what was chosen where there was a choice: "Q4_K_M of Q2_K, Q4_K_M, Q8_0"
  std::vector<PlannedFile> files;  // the model's, in the order of its set
  std::vector<PlannedFile> adapters;
  // Small texts of a registry that are part of the model: fetched whole, then given to
  // apply_text().
  std::vector<PlannedFile> texts;
  ModelSettings settings;
  std::vector<std::string> notes;  // what is left out and why, each a sentence

  Bytes size() const {
    Bytes total;
    for (const PlannedFile& file : files) total += file.size;
    for (const PlannedFile& file : adapters) total += file.size;
    return total;
  }
};

}  // namespace hearth
