// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth {

// What stands after "hf.co/".
struct HuggingFaceText {
  std::string repository;        // "org/repo"
  std::string revision{"main"};  // a branch, tag or commit; may hold slashes
  std::string wanted;            // a quantisation in upper case, or a file's path; may be empty

  // org/repo[@revision][:wanted], with the two in either order, or the path of a page:
  // org/repo/{blob,resolve,raw,tree}/revision[/file.gguf], org/repo/file.gguf.
  // Errors: kInvalid.
  static Result<HuggingFaceText> parse(std::string_view text);

  std::string canonical() const;
};

}  // namespace hearth
