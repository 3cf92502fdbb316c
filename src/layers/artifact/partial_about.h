// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace hearth {

// What a partial download is part of, as it is kept beside it.
struct PartialAbout {
  std::string source;  // of the pull: "hf.co/org/repo:Q4_K_M"
  std::string file;    // as its publisher calls it
  std::string url;     // without credentials
  std::string sha256;  // as promised; empty: nobody promised one
  Bytes size;          // likewise; zero: not known

  friend bool operator==(const PartialAbout&, const PartialAbout&) = default;
};

std::string json_of(const PartialAbout& about);
// Errors: kCorrupt.
Result<PartialAbout> partial_about_of(std::string_view json);

}  // namespace hearth
