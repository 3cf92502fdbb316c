// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth {

// What people call a model: [host[:port]/][namespace/]model[:tag]. Without a tag it means "latest".
// Two names that differ in case only are the same name. A ModelName never holds a path step, a
// control character or a percent sign, so it is safe to print and to build addresses from.
class ModelName {
 public:
  // At most 256 characters in all; each part begins with a letter, a digit or "_" and goes on with
  // these, ".", "-" and "+".
  // Errors: kInvalid, saying what is wrong without repeating what may be a path.
  static Result<ModelName> parse(std::string_view text);

  // A name made from a file's: the directory, ".gguf" and a shard number are left out, and
  // characters that a name cannot have become "-".
  static Result<ModelName> from_path(std::string_view path);

  // With the tag, in the case in which it was typed. parse(canonical()) gives the same name.
  std::string canonical() const;

  // Lower case; equal for equal names.
  std::string key() const;

  const std::string& host() const { return host_; }
  const std::string& name_space() const { return name_space_; }
  const std::string& model() const { return model_; }
  const std::string& tag() const { return tag_; }

 private:
  std::string host_;        // empty when not given
  std::string name_space_;  // empty when not given
  std::string model_;
  std::string tag_;
};

}  // namespace hearth
