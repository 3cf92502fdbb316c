// SPDX-License-Identifier: Apache-2.0
#include "base/stage.h"

namespace hearth {
namespace {

constexpr std::array<std::string_view, 14> kNames{
    "queue",
    "artifact.metadata",
    "artifact.download",
    "artifact.verify",
    "spawn",
    "read",
    "load",
    "compile",
    "context",
    "tokenize",
    "restore",
    "prefill",
    "first_decode",
    "decode",
};
static_assert(kNames.size() == static_cast<std::size_t>(StageKind::kDecode) + 1);

}  // namespace

std::string_view name_of(StageKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<StageKind> stage_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<StageKind>(i);
  }
  return std::nullopt;
}

}  // namespace hearth
