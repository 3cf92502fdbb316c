// SPDX-License-Identifier: Apache-2.0
#include "front/verify/verdict_text.h"

#include <fmt/format.h>

namespace hearth::front {
namespace {

std::string_view program_of(Store store) {
  switch (store) {
    case Store::kHuggingFace:
      return "the Hugging Face cache";
    case Store::kOllama:
      return "Ollama";
    case Store::kLmStudio:
      return "LM Studio";
    default:
      return {};
  }
}

std::string remedy_of_rot(const NamedModel& model) {
  const Artifact& artifact = model.artifact;
  if (is_repairable(artifact)) {
    return fmt::format("`hearth verify --repair {}` fetches what is bad once more", model.name);
  }
  if (artifact.store == Store::kHearth) {
    return "nobody knows from where it could be fetched again: create it anew from a good copy";
  }
  const std::string_view program = program_of(artifact.store);
  if (program.empty()) return "put a good copy in its place, for instance from a backup";
  return fmt::format(
      "the file belongs to {}: let that fetch it again, or pull the model into "
      "Hearth's own store",
      program);
}

}  // namespace

bool is_repairable(const Artifact& artifact) {
  return artifact.store == Store::kHearth && artifact.origin.known() &&
         artifact.origin.files.size() == artifact.files().size();
}

std::string text_of_rot(const NamedModel& model, Bytes bad) {
  const std::string how_much =
      bad == Bytes{} ? std::string{}
                     : fmt::format("; {} MiB of it are bad", (bad.count() + 0xfffff) >> 20);
  return fmt::format(
      "the content is not what it was or should be, though nobody wrote to the file{}: {}",
      how_much, remedy_of_rot(model));
}

std::string text_of_change(const NamedModel& model) {
  if (model.artifact.status == ArtifactStatus::kBroken) {
    return "somebody wrote to the file, and it is no model any more: " + model.artifact.reason;
  }
  return "somebody wrote to the file since it was last read; what it holds now counts. If that was "
         "not meant, put the old file back";
}

std::string text_of_absence(const NamedModel& model) {
  if (model.artifact.status == ArtifactStatus::kAbsent) {
    return fmt::format(
        "its files are not here; `hearth warm {} --layer artifact`, or the next "
        "request, fetches them again",
        model.name);
  }
  return "a file is not there or cannot be opened: bring it back, or remove the model's name";
}

std::string refusal_of_rot(const NamedModel& model) {
  return fmt::format(
      "the model's file has rotted: it holds other bytes than it should, though "
      "nobody wrote to it; {}",
      remedy_of_rot(model));
}

}  // namespace hearth::front
