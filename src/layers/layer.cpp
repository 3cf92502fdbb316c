// SPDX-License-Identifier: Apache-2.0
#include "layers/layer.h"

#include <array>

#include "layers/switches.h"

namespace hearth {
namespace {

constexpr std::array<std::string_view, 5> kNames{"artifact", "pages", "weights", "compiled",
                                                 "prefix"};

bool& switch_of(LayerSwitches& switches, LayerKind kind) {
  switch (kind) {
    case LayerKind::kArtifact:
      return switches.artifact;
    case LayerKind::kPages:
      return switches.pages;
    case LayerKind::kWeights:
      return switches.weights;
    case LayerKind::kCompiled:
      return switches.compiled;
    case LayerKind::kPrefix:
      break;
  }
  return switches.prefix;
}

}  // namespace

std::string_view name_of(LayerKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<LayerKind> layer_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<LayerKind>(i);
  }
  return std::nullopt;
}

bool LayerSwitches::enabled(LayerKind kind) const {
  LayerSwitches copy = *this;
  return switch_of(copy, kind);
}

Result<LayerSwitches> switches_without(std::span<const std::string> names) {
  LayerSwitches switches;
  for (const std::string& name : names) {
    const std::optional<LayerKind> kind = layer_named(name);
    if (!kind) {
      return fail(ErrorCode::kInvalid, "\"" + name +
                                           "\" is no cache layer; the layers are artifact, pages, "
                                           "weights, compiled and prefix");
    }
    switch_of(switches, *kind) = false;
  }
  return switches;
}

}  // namespace hearth
