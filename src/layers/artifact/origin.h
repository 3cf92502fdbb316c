// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hearth {

// Where a model was fetched from: enough to fetch it, or a part of it, once more.
struct Origin {
  struct File {
    std::string name;    // as its publisher calls it, without directories
    std::string url;     // without credentials
    std::string sha256;  // lower-case hexadecimal
    std::string etag;    // what the server said last; may be empty
    Bytes size;

    friend bool operator==(const File&, const File&) = default;
  };
  std::string source;       // as a pull takes it: "hf.co/org/repo:Q4_K_M"; empty: nobody knows
  std::string revision;     // the publisher's: a commit, a manifest's digest
  std::vector<File> files;  // the model's files, in order; adapters follow

  bool known() const { return !source.empty() && !files.empty(); }
  friend bool operator==(const Origin&, const Origin&) = default;
};

std::string json_of(const Origin& origin);
// Errors: kCorrupt.
Result<Origin> origin_of(std::string_view json);

}  // namespace hearth
