// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "engine/backends.h"
#include "engine/chat_format.h"
#include "engine/compile_key.h"
#include "engine/metadata.h"
#include "engine/placement.h"
#include "engine/vocabulary.h"
#include "wire/messages.h"
#include "worker/language.h"

namespace hearth::worker {

// A model without its weights: what a hollow worker holds. Does not change once it is made.
struct OpenedModel {
  std::string name;
  wire::LoadOptions options;
  std::vector<Fd> files;           // the GGUF file, or its shards in order
  std::vector<std::string> paths;  // of those, under /proc/self/fd
  std::vector<Fd> adapter_files;
  std::vector<std::string> adapters;  // likewise
  engine::Backends backends;
  std::unique_ptr<engine::Vocabulary> vocabulary;
  std::unique_ptr<engine::ChatFormat> format;
  // What a load by our own readers needs; null: the engine loads this model as a whole.
  std::unique_ptr<engine::Metadata> metadata;
  engine::Placement placement;
  engine::Platform platform;
  int context_limit = 0;
  bool generates = true;

  Language language(TemplateCache& templates) const {
    return {*vocabulary, *format, templates, context_limit, generates};
  }
};

// Parses the vocabulary while the backends are loaded beside it.
// Errors: kCorrupt (the file), kInternal (the engine), kInvalid (more adapters than files).
Result<std::unique_ptr<OpenedModel>> open_model(wire::OpenMessage message, std::vector<Fd> files);

wire::ReadyMessage ready_message(const OpenedModel& model);

}  // namespace hearth::worker
