// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/chat_format.h"
#include "engine/vocabulary.h"
#include "worker/template_cache.h"

namespace hearth::worker {

// What tokenizing needs; nothing of it needs weights.
struct Language {
  const engine::Vocabulary& vocabulary;
  const engine::ChatFormat& format;  // the model's own
  TemplateCache& templates;          // others that requests bring
  int context_limit;
  bool generates;
};

}  // namespace hearth::worker
