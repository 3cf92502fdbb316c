// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/chat_format.h"
#include "engine/vocabulary.h"

namespace hearth::worker {

// Chat templates that come with requests in place of the model's own, parsed once. Keeps those used
// last. Belongs to one thread; the vocabulary must outlive it.
class TemplateCache {
 public:
  explicit TemplateCache(const engine::Vocabulary& vocabulary) : vocabulary_{vocabulary} {}

  // Valid until the next call. Errors: kInvalid at "template".
  Result<const engine::ChatFormat*> get(const std::string& text);

 private:
  struct Entry {
    std::string text;
    std::unique_ptr<engine::ChatFormat> format;
  };

  const engine::Vocabulary& vocabulary_;
  std::list<Entry> entries_;  // the one used last is the first
};

}  // namespace hearth::worker
