// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/generation.h"
#include "base/bytes.h"
#include "base/result.h"

// Bodies of the routes that change a model's levels, read. Pure. Errors are kInvalid and name the
// member at fault.
namespace hearth::api::admin {

struct WarmCall {
  RequestOptions options;  // keep_alive: of the layer weights only
  std::string layer;
};

struct LayerCall {
  std::string model;
  std::string layer;
  Bytes bytes{};         // how much of the pages to pin; 0: all
  bool preview = false;  // of a cool: only say what it would do
  // Of the prefix layer alone. `model` may be empty then: all of them.
  bool memory_only = false;          // give memory back, and keep on disk
  std::optional<std::string> key{};  // by name: only what was kept for its group

  bool chooses_prefixes() const { return memory_only || key || model.empty(); }
};

Result<WarmCall> parse_load(const std::string& body);  // layer: "weights"
Result<WarmCall> parse_warm(const std::string& body);
Result<LayerCall> parse_unload(const std::string& body);  // no layer
Result<LayerCall> parse_cool(const std::string& body);
Result<LayerCall> parse_pin(const std::string& body);    // without a layer: "weights"
Result<LayerCall> parse_unpin(const std::string& body);  // without a layer: none, for both

}  // namespace hearth::api::admin
